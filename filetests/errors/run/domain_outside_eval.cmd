eval domains.lift --entry outside is=[1,1,2]
