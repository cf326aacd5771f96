#!/bin/sh
# Runs every fuzz target of the module, one after the other, for the time given
# as the only argument (10s if none).
set -eu
cd "$(dirname "$0")/.."

time=${1:-10s}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# go test -list prints a package's targets, and then a line with its name.
go test -list '^Fuzz' ./... >"$tmp/output" || {
	cat "$tmp/output" >&2
	exit 1
}
awk '/^Fuzz/ { names[++n] = $1 } /^(ok|\?)/ { for (i = 1; i <= n; i++) print $2, names[i]; n = 0 }' \
	"$tmp/output" >"$tmp/targets"

if [ ! -s "$tmp/targets" ]; then
	echo "scripts/fuzz.sh: found no fuzz target" >&2
	exit 1
fi
while read -r package target; do
	echo "fuzz $package $target $time"
	go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" "$package"
done <"$tmp/targets"
