eval programs.lift --entry add x=random y=random -o out.npy
