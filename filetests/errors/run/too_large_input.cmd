eval programs.lift --entry total x=zeros --size N=10000000000000 -o out.npy
