package main

import (
	"fmt"
	"runtime"
	"time"
)

// holdings is what a process holds and has to give back.
type holdings struct {
	goroutines int
	fds        int
	mappings   int // of io_uring's rings
	pinnedKiB  int // memory that the kernel may write to at any time
}

// leakPatience is how long what is on its way out may take.
const leakPatience = 5 * time.Second

func held() holdings {
	h := systemHoldings()
	h.goroutines = runtime.NumGoroutine()
	return h
}

// settled is held once it no longer changes: the kernel takes a ring down some time after it was closed.
func settled() holdings {
	const still = 50 * time.Millisecond
	h, since := held(), time.Now()
	for time.Since(since) < still {
		time.Sleep(5 * time.Millisecond)
		if now := held(); now != h {
			h, since = now, time.Now()
		}
	}
	return h
}

// leaked waits until no more is held than before, and otherwise returns how many things are left.
func leaked(before holdings) (n int, what string) {
	var h holdings
	for end := time.Now().Add(leakPatience); ; time.Sleep(2 * time.Millisecond) {
		h = held()
		n = max(h.goroutines-before.goroutines, 0) + max(h.fds-before.fds, 0) +
			max(h.mappings-before.mappings, 0) + max(h.pinnedKiB-before.pinnedKiB, 0)
		if n == 0 {
			return 0, ""
		}
		if time.Now().After(end) {
			return n, fmt.Sprintf("before: %+v, after: %+v", before, h)
		}
	}
}
