eval programs.lift --entry pick x=[1,2,3] at=[0,3] -o out.npy
