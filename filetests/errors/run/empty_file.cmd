eval programs.lift --entry total x=empty.npy -o out.npy
