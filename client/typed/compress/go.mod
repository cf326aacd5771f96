module github.com/memring/memring/client/typed/compress

go 1.26.0

require (
	github.com/klauspost/compress v1.20.4
	github.com/memring/memring v0.0.0-00010101000000-000000000000
	github.com/stretchr/testify v1.12.1
	go.uber.org/goleak v1.3.0
)

require (
	github.com/iceber/iouring-go v0.0.0-20230403020409-002cfd2e2a90 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/sys v0.50.0 // indirect
)

// For work in this repository. It does not count for who imports this module: before
// compress is tagged, the version required above must be a released one that has
// client/typed.
replace github.com/memring/memring => ../../..
