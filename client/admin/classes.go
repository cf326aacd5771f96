package admin

import (
	"context"
	"time"
)

// Items is what the server says of the items of each slab class: `stats items`.
// Raw has everything as it came (protocol.txt, "Item statistics").
type Items struct {
	Classes []ItemClass // those that have items, in order
	Raw     map[string]string
}

// ItemClass is the items of one slab class. Fields that the server did not send are
// zero; Raw has what it sent of this class, without "items:" and the number.
type ItemClass struct {
	Class int

	Number       uint64        `stat:"number"`
	NumberHot    uint64        `stat:"number_hot"`
	NumberWarm   uint64        `stat:"number_warm"`
	NumberCold   uint64        `stat:"number_cold"`
	NumberTemp   uint64        `stat:"number_temp"`
	Age          time.Duration `stat:"age"` // of the oldest item of the LRU
	AgeHot       time.Duration `stat:"age_hot"`
	AgeWarm      time.Duration `stat:"age_warm"`
	MemRequested uint64        `stat:"mem_requested"` // bytes

	Evicted          uint64        `stat:"evicted"`
	EvictedNonzero   uint64        `stat:"evicted_nonzero"` // of those, with a TTL
	EvictedTime      time.Duration `stat:"evicted_time"`    // since the last access of the last one evicted
	EvictedUnfetched uint64        `stat:"evicted_unfetched"`
	EvictedActive    uint64        `stat:"evicted_active"`
	ExpiredUnfetched uint64        `stat:"expired_unfetched"`
	OutOfMemory      uint64        `stat:"outofmemory"`
	TailRepairs      uint64        `stat:"tailrepairs"`
	Reclaimed        uint64        `stat:"reclaimed"`

	CrawlerReclaimed    uint64 `stat:"crawler_reclaimed"`
	CrawlerItemsChecked uint64 `stat:"crawler_items_checked"`
	LRUTailReflocked    uint64 `stat:"lrutail_reflocked"`
	MovesToCold         uint64 `stat:"moves_to_cold"`
	MovesToWarm         uint64 `stat:"moves_to_warm"`
	MovesWithinLRU      uint64 `stat:"moves_within_lru"`
	DirectReclaims      uint64 `stat:"direct_reclaims"`
	HitsToHot           uint64 `stat:"hits_to_hot"`
	HitsToWarm          uint64 `stat:"hits_to_warm"`
	HitsToCold          uint64 `stat:"hits_to_cold"`
	HitsToTemp          uint64 `stat:"hits_to_temp"`

	Raw map[string]string
}

// Items asks for the statistics of items by slab class.
func (s *Server) Items(ctx context.Context) (Items, error) {
	raw, err := s.stats(ctx, "items")
	items := Items{Raw: raw}
	numbers, by := numbered(raw, "items:")
	for _, n := range numbers {
		c := ItemClass{Class: n, Raw: by[n]}
		decode(c.Raw, &c)
		items.Classes = append(items.Classes, c)
	}
	return items, err
}

// Slabs is what the server says of the memory of each slab class: `stats slabs`.
// Fields that the server did not send are zero; Raw has everything as it came
// (protocol.txt, "Slab statistics").
type Slabs struct {
	Classes       []SlabClass // those that have memory, in order
	ActiveSlabs   int         `stat:"active_slabs"`
	TotalMalloced uint64      `stat:"total_malloced"` // bytes
	Raw           map[string]string
}

// SlabClass is the memory of one slab class. Raw has what the server sent of this
// class, without the number.
type SlabClass struct {
	Class int

	ChunkSize     uint64 `stat:"chunk_size"` // bytes
	ChunksPerPage uint64 `stat:"chunks_per_page"`
	TotalPages    uint64 `stat:"total_pages"`
	TotalChunks   uint64 `stat:"total_chunks"`
	UsedChunks    uint64 `stat:"used_chunks"`
	FreeChunks    uint64 `stat:"free_chunks"`
	FreeChunksEnd uint64 `stat:"free_chunks_end"`
	GetHits       uint64 `stat:"get_hits"`
	CmdSet        uint64 `stat:"cmd_set"`
	DeleteHits    uint64 `stat:"delete_hits"`
	IncrHits      uint64 `stat:"incr_hits"`
	DecrHits      uint64 `stat:"decr_hits"`
	CASHits       uint64 `stat:"cas_hits"`
	CASBadVal     uint64 `stat:"cas_badval"`
	TouchHits     uint64 `stat:"touch_hits"`

	Raw map[string]string
}

// Slabs asks for the statistics of memory by slab class.
func (s *Server) Slabs(ctx context.Context) (Slabs, error) {
	raw, err := s.stats(ctx, "slabs")
	slabs := Slabs{Raw: raw}
	decode(raw, &slabs)
	numbers, by := numbered(raw, "")
	for _, n := range numbers {
		c := SlabClass{Class: n, Raw: by[n]}
		decode(c.Raw, &c)
		slabs.Classes = append(slabs.Classes, c)
	}
	return slabs, err
}
