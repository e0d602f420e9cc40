run domains.lift --entry before --device cpu xs=[1,2,3]
