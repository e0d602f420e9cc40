compile programs.lift --target c --entry total --size K=4 -o out
