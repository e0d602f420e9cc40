eval programs.lift --entry total x=header.npy -o out.npy
