package cases

import "fmt"

// Names of the cases that go through the value sizes.
const (
	NameSizeGet = "sizes-get"
	NameSizeSet = "sizes-set"
)

// manyCallersMost is the largest value that many callers use at once: more would be too much in flight,
// and memring refuses what exceeds 16 MiB unsent on a connection.
const manyCallersMost = 256 << 10

// sizes measures what a value's size does.
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
					Clients: []Client{URing, Poll, GoMemcache}, MaxRounds: 5, Stretch: 0.3,
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
