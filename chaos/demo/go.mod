module commitlab.dev/demo

go 1.26.0
