eval programs.lift --entry rows x=[1,2] -o out.npy
