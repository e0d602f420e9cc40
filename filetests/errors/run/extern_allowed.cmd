eval programs.lift --entry foreign x=[1] --allow-extern -o out.npy
