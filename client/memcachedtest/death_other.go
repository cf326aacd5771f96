//go:build !linux

package memcachedtest

import "syscall"

// dieWithParent has no counterpart here: a memcached whose parent was killed
// goes on.
func dieWithParent() *syscall.SysProcAttr { return nil }
