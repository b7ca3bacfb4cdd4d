module peers

go 1.26.0

require basalt v0.0.0

replace basalt => ../..
