eval programs.lift --entry add -o out.npy
