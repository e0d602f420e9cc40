eval domains.lift --entry before xs=[1,2,3]
