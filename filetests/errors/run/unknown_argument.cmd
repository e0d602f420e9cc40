eval programs.lift --entry bytes xs=[1] k=1 x=[1] -o out.npy
