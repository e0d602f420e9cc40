eval programs.lift --entry pick x=[1,2,3] at=[-1] -o out.npy
