eval programs.lift --entry total x=ones --size N=0 -o out.npy
