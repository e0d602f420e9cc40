eval programs.lift --entry rows x=[]
