eval programs.lift --entry xyzzy x=[1] -o out.npy
