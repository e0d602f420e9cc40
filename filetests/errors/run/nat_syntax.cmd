nat N+*2
