eval programs.lift --entry tiled x=[1,2,3] --size t=4 -o out.npy
