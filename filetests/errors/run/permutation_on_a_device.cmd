run programs.lift --entry doubled x=[1,2,3,4] -o out.npy --device cpu
