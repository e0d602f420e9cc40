eval programs.lift --entry totel x=[1] -o out.npy
