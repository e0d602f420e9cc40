compile programs.lift --target c --entry points --size N=3000000000 -o out
