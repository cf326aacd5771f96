//go:build linux && race

package ring

import (
	"runtime"
	"unsafe"
)

// The race detector cannot see what the kernel does with our memory, so its
// accesses are announced where they are known to have ended, as
// golang.org/x/sys/unix does for its system calls.

func kernelWrote(b []byte) {
	if len(b) > 0 {
		runtime.RaceWriteRange(unsafe.Pointer(&b[0]), len(b))
	}
}

func kernelRead(b []byte) {
	if len(b) > 0 {
		runtime.RaceReadRange(unsafe.Pointer(&b[0]), len(b))
	}
}
