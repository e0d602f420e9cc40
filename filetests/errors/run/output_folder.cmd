eval programs.lift --entry total x=[1] -o nowhere/out.npy
