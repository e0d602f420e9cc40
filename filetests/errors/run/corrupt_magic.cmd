eval programs.lift --entry total x=corrupt.npy -o out.npy
