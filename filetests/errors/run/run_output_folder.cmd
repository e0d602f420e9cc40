run programs.lift --device cpu --entry total x=[1] -o missing/out.npy
