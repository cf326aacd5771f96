//go:build !linux

package main

import (
	"errors"
	"syscall"
)

func shrink(string, string, syscall.RawConn) error { return errors.ErrUnsupported }
