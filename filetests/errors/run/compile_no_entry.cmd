compile empty.lift --target c -o out
