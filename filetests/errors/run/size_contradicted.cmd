eval programs.lift --entry total x=[1,2,3] --size N=4 -o out.npy
