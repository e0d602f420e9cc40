eval programs.lift --entry foreign x=[1] -o out.npy
