//go:build !unix

package worker

import (
	"errors"
	"time"
)

func cpuTime() (time.Duration, error) { return 0, errors.ErrUnsupported }
