//go:build unix

package worker

import (
	"syscall"
	"time"
)

// cpuTime is the user and system time of this process, all its threads and io_uring's workers included.
func cpuTime() (time.Duration, error) {
	var ru syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &ru); err != nil {
		return 0, err
	}
	return time.Duration(ru.Utime.Nano() + ru.Stime.Nano()), nil
}
