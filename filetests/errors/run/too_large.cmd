eval programs.lift --entry huge x=[1] -o out.npy
