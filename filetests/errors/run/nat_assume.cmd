nat N --assume N%%4
