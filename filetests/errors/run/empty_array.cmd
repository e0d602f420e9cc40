eval programs.lift --entry total x=none.npy -o out.npy
