eval programs.lift --entry pairs x=three.npy -o out.npy
