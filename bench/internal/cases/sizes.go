package cases

import (
	"fmt"
	"slices"
)

// Names of the cases that go through the value sizes.
const (
	NameSizeGet = "sizes-get"
	NameSizeSet = "sizes-set"
)

// manyCallersMost is the largest value that many callers use at once: more would be too much in flight,
// and memring refuses what exceeds 16 MiB unsent on a connection.
const manyCallersMost = 256 << 10

// memring's defaults: values of sentFrom and more are sent from where they are, and values of which receivedFrom
// and more are missing behind the receive buffer are received into place.
const (
	sentFrom     = 16 << 10
	receivedFrom = 64 << 10
)

// refLeast is the smallest value that is also measured without copying where the defaults copy. Below, sets
// pay for it so plainly that nothing is learned, and gets have nothing to gain: the buffer holds them whole.
const (
	refLeastSet = 1 << 10
	refLeastGet = 16 << 10
)

// sizeClients adds memring by copy to every case, and by reference to those near the defaults in which memring
// by default copies: where it doesn't, it is that already.
func sizeClients(op Op, size int) []Client {
	all := []Client{URing, URingCopy, Poll, GoMemcache}
	if op == Set && refLeastSet <= size && size < sentFrom || op == Get && refLeastGet <= size && size <= receivedFrom {
		all = slices.Insert(all, 2, URingRef)
	}
	return all
}

// sizes measures what a value's size does, and whether not copying it pays. The rows are many, so each has
// short turns, and one with the kernel's counter.
func sizes() []Case {
	var all []Case
	for _, name := range []string{NameSizeGet, NameSizeSet} {
		op := Get
		if name == NameSizeSet {
			op = Set
		}
		for _, callers := range []int{1, 64} {
			for _, size := range []int{512, 1 << 10, 4 << 10, 16 << 10, 32 << 10, 64 << 10, 256 << 10, 1 << 20, 8 << 20} {
				if callers > 1 && size > manyCallersMost {
					continue
				}
				all = append(all, Case{
					Name: name, Group: GroupSizes, Param: float64(size), Unit: "bytes",
					Network: "unix", Callers: callers, Op: op, Size: size,
					Clients: sizeClients(op, size), Baseline: URingCopy, MaxRounds: 5, Stretch: 0.25, MaxCounts: 1,
				})
			}
		}
	}
	return all
}

// sizeName prints a size in the largest unit that divides it.
func sizeName(size int) string {
	switch {
	case size >= 1<<20 && size%(1<<20) == 0:
		return fmt.Sprintf("%dMiB", size>>20)
	case size >= 1<<10 && size%(1<<10) == 0:
		return fmt.Sprintf("%dKiB", size>>10)
	}
	return fmt.Sprintf("%dB", size)
}
