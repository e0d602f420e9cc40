compile programs.lift --target c --entry lanes --size W=5 -o out
