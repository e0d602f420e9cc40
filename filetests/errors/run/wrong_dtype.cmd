eval programs.lift --entry total x=integers.npy -o out.npy
