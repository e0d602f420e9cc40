compile programs.lift --target c -o out
