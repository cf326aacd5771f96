package cases

// Names of the cases that the project began with: one caller over the UNIX socket, from one small value to
// one of 2 MiB, and how many system calls each takes.
const (
	NameSeedGet        = "seeds-get-1KiB"
	NameSeed40x100B    = "seeds-multiget-40x100B"
	NameSeed400x100B   = "seeds-multiget-400x100B"
	NameSeed40x1KiB    = "seeds-multiget-40x1KiB"
	NameSeed40x4KiB    = "seeds-multiget-40x4KiB"
	NameSeed40x12KiB   = "seeds-multiget-40x12KiB"
	NameSeed20x64KiB   = "seeds-multiget-20x64KiB"
	NameSeedGet512KiB  = "seeds-get-512KiB"
	NameSeedGet2048KiB = "seeds-get-2MiB"
)

// seeds measures them with and without registered buffers. Memory is used again by the clients that can:
// single values go to one slice, and those of multi-gets that are large are lent.
func seeds() []Case {
	const kib = 1 << 10
	all := []Case{
		{Name: NameSeedGet, Op: GetReused, Size: kib},
		{Name: NameSeed40x100B, Op: MultiGet, Keys: 40, Size: 100},
		{Name: NameSeed400x100B, Op: MultiGet, Keys: 400, Size: 100},
		{Name: NameSeed40x1KiB, Op: MultiGet, Keys: 40, Size: kib},
		{Name: NameSeed40x4KiB, Op: MultiGet, Keys: 40, Size: 4 * kib},
		{Name: NameSeed40x12KiB, Op: MultiLent, Keys: 40, Size: 12 * kib},
		{Name: NameSeed20x64KiB, Op: MultiLent, Keys: 20, Size: 64 * kib},
		{Name: NameSeedGet512KiB, Op: GetReused, Size: 512 * kib},
		{Name: NameSeedGet2048KiB, Op: GetReused, Size: 2048 * kib},
	}
	for i := range all {
		c := &all[i]
		c.Group, c.Network, c.Callers = GroupSeeds, "unix", 1
		c.Clients = []Client{URing, URingPlain, Poll, GoMemcache}
		c.MaxRounds, c.Stretch = 7, 0.5
	}
	return all
}
