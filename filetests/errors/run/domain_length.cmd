eval domains.lift --entry packed t=[1,2]
