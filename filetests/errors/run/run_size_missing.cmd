run programs.lift --device cpu --entry total x=ones -o out.npy
