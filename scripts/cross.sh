#!/bin/sh
# Builds the modules that users import, and the library's tests, for every platform
# that we care for, and vets all. Nothing is run.
set -eu
cd "$(dirname "$0")/.."

export CGO_ENABLED=0
for platform in linux/amd64 linux/arm64 linux/386 darwin/arm64 freebsd/amd64 windows/amd64; do
	export GOOS="${platform%/*}" GOARCH="${platform#*/}"
	echo "cross $platform"
	go build ./...
	go vet ./...
	go test -c -o /dev/null ./...
	(cd client/typed/compress && go build ./... && go vet ./...)
	(cd bench && go vet ./...)
done
