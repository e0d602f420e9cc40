eval programs.lift --entry mapped xs=[1] -o out.npy
