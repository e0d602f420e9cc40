eval domains.lift --entry number rs=[0,3]
