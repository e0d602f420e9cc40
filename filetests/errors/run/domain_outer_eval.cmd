eval domains.lift --entry while_small xs=[1,2,3] ys=[1,2]
