module github.com/memring/memring/bench

go 1.26.0

require (
	github.com/HdrHistogram/hdrhistogram-go v1.4.0
	github.com/QuangTung97/go-memcache v0.3.5
	github.com/bradfitz/gomemcache v0.0.0-20260422231931-4d751bb6e37c
	github.com/grafana/gomemcache v0.0.0-20251127154401-74f93547077b
	github.com/iceber/iouring-go v0.0.0-20230403020409-002cfd2e2a90
	github.com/memring/memring v0.0.0-00010101000000-000000000000
	github.com/stretchr/testify v1.12.1
	golang.org/x/perf v0.0.0-20260908200009-22c9c6c9d4da
	golang.org/x/sys v0.50.0
)

require (
	github.com/aclements/go-moremath v0.0.0-20210112150236-f10218a38794 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
)

replace github.com/memring/memring => ../
