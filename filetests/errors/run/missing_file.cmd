eval programs.lift --entry total x=nowhere.npy -o out.npy
