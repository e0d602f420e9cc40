eval programs.lift --entry total x=[1] x=[2] -o out.npy
