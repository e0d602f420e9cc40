eval programs.lift --entry total x=matrix.npy -o out.npy
