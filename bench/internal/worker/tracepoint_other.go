//go:build !linux

package worker

import "errors"

// TracepointID has nothing to find here.
func TracepointID(string, ...string) (uint64, error) { return 0, errors.ErrUnsupported }

// PrintTracepoint has nothing to print here.
func PrintTracepoint() error { return errors.ErrUnsupported }
