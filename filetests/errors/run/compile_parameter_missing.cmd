compile programs.lift --target cuda --entry tiled -o out
