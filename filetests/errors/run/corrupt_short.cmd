eval programs.lift --entry total x=short.npy -o out.npy
