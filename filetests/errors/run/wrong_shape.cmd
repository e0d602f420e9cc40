eval programs.lift --entry add x=three.npy y=four.npy -o out.npy
