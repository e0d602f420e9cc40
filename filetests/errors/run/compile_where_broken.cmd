compile programs.lift --target c --entry halves --size N=3 -o out
