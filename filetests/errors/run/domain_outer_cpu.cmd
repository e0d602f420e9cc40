run domains.lift --entry while_small --device cpu xs=[1,2,3] ys=[1,2]
