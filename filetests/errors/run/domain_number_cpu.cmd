run domains.lift --entry number --device cpu rs=[0,3]
