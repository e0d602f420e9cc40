run programs.lift --device cpu x=[1,2,3] -o out.npy
