eval programs.lift --entry total x=[1,2 -o out.npy
