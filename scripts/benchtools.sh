#!/bin/sh
# Installs what some rows of the benchmark are measured with, if it is missing:
# wrk, which drives the HTTP service, and libmemcached's memaslap. Without them,
# or without root and sudo, it only says so: those rows are left out then.
set -u

have() { command -v "$1" >/dev/null 2>&1; }

say() { printf 'scripts/benchtools.sh: %s\n' "$*" >&2; }

as_root() {
	if [ "$(id -u)" -eq 0 ]; then
		"$@"
	elif have sudo; then
		sudo -n "$@"
	else
		return 1
	fi
}

missing=
have wrk || missing="wrk"
have memaslap || have memcaslap || missing="$missing libmemcached-tools"
[ -n "$missing" ] || exit 0

if ! have apt-get; then
	say "not on PATH, and installed with apt only: $missing"
	exit 0
fi
# shellcheck disable=SC2086 # names of packages, one a word
apt() { as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends install $missing >/dev/null 2>&1; }

apt || { as_root apt-get -q update >/dev/null 2>&1 && apt; } || say "could not install $missing: rows that need it are left out"
exit 0
