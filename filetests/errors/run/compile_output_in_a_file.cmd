compile programs.lift --target c --entry total -o three.npy/kernels
