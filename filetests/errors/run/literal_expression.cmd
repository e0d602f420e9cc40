eval programs.lift --entry total x=[1+1] -o out.npy
