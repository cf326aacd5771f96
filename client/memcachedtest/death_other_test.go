//go:build !linux

package memcachedtest

func childOfTest() bool { return false }
