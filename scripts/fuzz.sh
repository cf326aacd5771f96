#!/bin/sh
# Runs every fuzz target of the library and of client/typed/compress, one after the
# other, for the time given as the only argument (10s if none).
set -eu
cd "$(dirname "$0")/.."

time=${1:-10s}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

for module in . client/typed/compress; do
	# go test -list prints a package's targets, and then a line with its name.
	(cd "$module" && go test -list '^Fuzz' ./...) >"$tmp/output" || {
		cat "$tmp/output" >&2
		exit 1
	}
	awk -v module="$module" '/^Fuzz/ { names[++n] = $1 } /^(ok|\?)/ { for (i = 1; i <= n; i++) print module, $2, names[i]; n = 0 }' \
		"$tmp/output" >"$tmp/targets"

	if [ ! -s "$tmp/targets" ]; then
		echo "scripts/fuzz.sh: found no fuzz target in $module" >&2
		exit 1
	fi
	cat "$tmp/targets" >>"$tmp/all"
done
while read -r module package target; do
	echo "fuzz $package $target $time"
	# Where code has pools, an input's coverage is not always the same. Minimizing
	# such an input would take up to a minute, of a run that has ten seconds.
	(cd "$module" && go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" -fuzzminimizetime 1s "$package")
done <"$tmp/all"
