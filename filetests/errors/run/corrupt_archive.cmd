eval programs.lift --entry total x=corrupt.npz -o out.npy
