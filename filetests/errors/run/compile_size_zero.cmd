compile programs.lift --target c --entry total --size N=0 -o out
