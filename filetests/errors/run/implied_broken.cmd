eval programs.lift --entry third x=[1] -o out.npy
