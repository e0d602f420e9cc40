eval nowhere.lift x=three.npy -o out.npy
