eval programs.lift --entry both x=three.npy -o out.npz
