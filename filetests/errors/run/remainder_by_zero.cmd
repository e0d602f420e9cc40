eval programs.lift --entry remainders x=[1,2] y=[1,0] -o out.npy
