run programs.lift --device cpu --entry both x=[1] k=2 -o out.npy
