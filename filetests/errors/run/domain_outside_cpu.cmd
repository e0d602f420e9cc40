run domains.lift --entry outside --device cpu is=[1,1,2]
