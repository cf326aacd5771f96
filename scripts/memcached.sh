#!/bin/sh
# Makes sure that there is a memcached to test and measure with. Does nothing
# if one is on PATH. Otherwise installs it with apt, dnf, apk or brew, through
# sudo if you aren't root, or ends with an error that says what to do.
#
# Tests and benchmarks start their own memcached on free ports and sockets, so
# no system service is needed: where the package has just brought one and
# started it (apt), it is stopped and disabled again.
set -eu

if command -v memcached >/dev/null 2>&1; then
	exit 0
fi

say() { printf 'scripts/memcached.sh: %s\n' "$*" >&2; }

die() {
	say "$*"
	exit 1
}

have() { command -v "$1" >/dev/null 2>&1; }

as_root() {
	if [ "$(id -u)" -eq 0 ]; then
		"$@"
	elif have sudo; then
		sudo "$@"
	else
		die "installing memcached needs root, and there is no sudo: run '$*' as root, or put a memcached on PATH"
	fi
}

apt() {
	as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends install memcached
}

# Only called after this script has installed the package, so it is nobody's
# service in use. Images of containers have no systemd, but may have run the
# init script.
disable_service() {
	if [ -d /run/systemd/system ] && have systemctl; then
		as_root systemctl disable --now memcached.service || say "could not disable memcached.service"
	elif [ -x /etc/init.d/memcached ]; then
		as_root /etc/init.d/memcached stop || say "could not stop the memcached service"
	fi
}

say "memcached is not on PATH, installing it"
if have apt-get; then
	# Package lists are missing in fresh images, and can be old.
	if ! apt >/dev/null 2>&1; then
		as_root apt-get -q update || say "apt-get update failed, trying with the lists there are"
		apt >&2
	fi
	disable_service >&2
elif have dnf; then
	as_root dnf -q -y install memcached >&2
elif have apk; then
	as_root apk add -q memcached >&2
elif have brew; then
	brew install -q memcached >&2
else
	die "found none of apt-get, dnf, apk, brew: install memcached 1.6 by hand (https://memcached.org/downloads) so that it is on PATH"
fi

have memcached || die "installed the memcached package, but there is still no memcached on PATH ($PATH)"
say "installed $(memcached -V)"
