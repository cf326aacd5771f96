//go:build !linux

package worker

import "errors"

type syscallCounter struct{}

func openCounter(uint64) (*syscallCounter, error) { return nil, errors.ErrUnsupported }

func (*syscallCounter) close() (uint64, error) { return 0, errors.ErrUnsupported }

// HoldTracepoint has nothing to hold here.
func HoldTracepoint(uint64) (release func(), err error) { return nil, errors.ErrUnsupported }
