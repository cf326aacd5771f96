//go:build !linux

package main

import (
	"errors"
	"io"
)

func newTarpit() (io.Closer, string, error) { return nil, "", errors.ErrUnsupported }
