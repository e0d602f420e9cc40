eval programs.lift --entry tiled x=[1,2] -o out.npy
