#!/bin/sh
# Checks that "-tags nouring" keeps io_uring out of a program: neither the ring
# package nor the io_uring bindings are among its dependencies or its symbols.
# Checks also that without the tag they are, so that the check itself works.
set -eu
cd "$(dirname "$0")/.."

module=$(go list -m)
pattern="^$module/ring\$|iouring-go"
symbols="$module/ring\\.|iouring-go"

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cat >"$tmp/main.go" <<GO
package main

import "$module/client"

func main() {
	c, err := client.New([]string{"127.0.0.1:11211"}, nil)
	if err == nil {
		err = c.Close()
	}
	if err != nil {
		panic(err)
	}
}
GO

die() {
	printf 'scripts/nouring.sh: %s\n' "$*" >&2
	exit 1
}

export GOOS=linux GOARCH=amd64 CGO_ENABLED=0
go list -deps -tags nouring ./client >"$tmp/deps"
if grep -E "$pattern" "$tmp/deps"; then
	die "with -tags nouring, client depends on the packages above"
fi
go build -tags nouring -o "$tmp/without" "$tmp/main.go"
go build -o "$tmp/with" "$tmp/main.go"
go tool nm "$tmp/without" >"$tmp/without.nm"
go tool nm "$tmp/with" >"$tmp/with.nm"
if grep -E "$symbols" "$tmp/without.nm"; then
	die "with -tags nouring, the program holds the symbols above"
fi
grep -qE "$symbols" "$tmp/with.nm" || die "without the tag the program holds no io_uring symbols either: this check is broken"
