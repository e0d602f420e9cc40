eval programs.lift --entry rows x=[[1,2],[3]] -o out.npy
