module example.org/h

go 1.26.0
