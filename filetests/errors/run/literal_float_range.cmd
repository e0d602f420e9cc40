eval programs.lift --entry total x=[1e39] -o out.npy
