eval programs.lift --entry total x=[] -o out.npy
