eval empty.lift x=1 -o out.npy
