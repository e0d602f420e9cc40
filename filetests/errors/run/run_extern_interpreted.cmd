run programs.lift --device interp x=[1,2,3] --allow-extern -o out.npy
