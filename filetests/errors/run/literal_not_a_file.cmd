eval programs.lift --entry total x=data.txt -o out.npy
