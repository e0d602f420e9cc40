eval programs.lift --entry bytes x=[1,2.5] k=1 -o out.npy
