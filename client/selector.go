package client

// Selector spreads keys over servers. Pick is called from many goroutines at once.
type Selector interface {
	// Pick returns the index of the key's server in the list that New was given. The
	// key is valid, and as the server is to store it: it begins with Config.KeyPrefix,
	// it is the hash where Config.HashLongKeys has put that in its place, and one of
	// Config.BinaryKeys is not base64. With an index outside of the list the call fails
	// with [ErrConfig], and nothing is sent.
	Pick(key string) int
}

// Rendezvous returns the default selector: each key goes to the server with the
// highest score for it (highest random weight hashing). Taking a server away
// moves only its own keys, adding one takes an equal share from each other. The
// result depends on the servers' names, not on their order, and is the same in
// every process and on every machine.
func Rendezvous(servers []string) Selector {
	r := make(rendezvous, len(servers))
	for i, s := range servers {
		r[i] = fnv1a(s)
	}
	return r
}

type rendezvous []uint64 // the hash of each server's name

func (r rendezvous) Pick(key string) int {
	if len(r) == 1 {
		return 0
	}
	h := fnv1a(key)
	best, top := 0, uint64(0)
	for i, s := range r {
		if score := mix(h ^ s); score > top || i == 0 {
			best, top = i, score
		}
	}
	return best
}

// fnv1a is the 64-bit FNV-1a hash; hash/fnv's would allocate.
func fnv1a(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := 0; i < len(s); i++ {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}

// mix is the finalizer of SplitMix64: it spreads what FNV leaves in the low
// bits over all 64.
func mix(h uint64) uint64 {
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}
