eval programs.lift --entry vectors x=matrix.npy -o out.npy
