run programs.lift --device cpu --entry halves x=[1,2,3] -o out.npy
