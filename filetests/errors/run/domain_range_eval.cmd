eval domains.lift --entry ranges ends=[1,0,2]
