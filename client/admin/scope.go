package admin

import (
	"strconv"
	"strings"
)

// Scope is which items a dump or a crawl visits.
type Scope string

const (
	// AllClasses visits the slab classes one by one, each from the least recently
	// used item on. Items that are accessed meanwhile can be missed.
	AllClasses Scope = "all"
	// ByHash walks the hash table, which misses fewer. The table can't grow
	// meanwhile.
	ByHash Scope = "hash"
)

// Classes is some slab classes, by their number in [Server.Items].
func Classes(ids ...uint8) Scope {
	words := make([]string, len(ids))
	for i, id := range ids {
		words[i] = strconv.Itoa(int(id))
	}
	return Scope(strings.Join(words, ","))
}

// valid reports whether it is one of those.
func (s Scope) valid() bool {
	if s == AllClasses || s == ByHash {
		return true
	}
	for id := range strings.SplitSeq(string(s), ",") {
		if _, err := strconv.ParseUint(id, 10, 8); err != nil {
			return false
		}
	}
	return true
}
