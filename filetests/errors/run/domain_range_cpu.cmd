run domains.lift --entry ranges --device cpu ends=[1,0,2]
