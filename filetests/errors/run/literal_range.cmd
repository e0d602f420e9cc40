eval programs.lift --entry bytes x=[1,256] k=-129 -o out.npy
