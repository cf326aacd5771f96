package memcachedtest

import (
	"strconv"
	"strings"
)

// The releases of 1.6 from which on memcached knows certain flags.
const (
	storedSizeRelease = 20 // s of ms, and its N for append and prepend
	chosenCASRelease  = 27 // E, and x of md
	unlessCASRelease  = 40 // C of mg
)

// releaseOf returns the last number of a version 1.6.x, 0 for any other.
func releaseOf(version string) int {
	rest, ok := strings.CutPrefix(version, "1.6.")
	if !ok {
		return 0
	}
	end := 0
	for end < len(rest) && rest[end] >= '0' && rest[end] <= '9' {
		end++
	}
	n, err := strconv.Atoi(rest[:end])
	if err != nil {
		return 0
	}
	return n
}
