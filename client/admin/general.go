package admin

import (
	"context"
	"time"
)

// General is what the server counts altogether: `stats`. Fields that the server
// did not send, or not in a form that is known here, are zero; Raw has everything
// as it came, by memcached's names (protocol.txt, "General-purpose statistics").
type General struct {
	PID         int           `stat:"pid"`
	Uptime      time.Duration `stat:"uptime"`
	Time        time.Time     `stat:"time"` // the server's clock, in seconds
	Version     string        `stat:"version"`
	PointerSize int           `stat:"pointer_size"` // in bits
	UserCPU     time.Duration `stat:"rusage_user"`
	SystemCPU   time.Duration `stat:"rusage_system"`
	Threads     int           `stat:"threads"`

	// Connections: those there are, those there may be, those there ever were.
	CurrConnections     uint64        `stat:"curr_connections"`
	MaxConnections      uint64        `stat:"max_connections"`
	TotalConnections    uint64        `stat:"total_connections"`
	RejectedConnections uint64        `stat:"rejected_connections"`
	AcceptingConns      bool          `stat:"accepting_conns"`
	ListenDisabled      uint64        `stat:"listen_disabled_num"` // times that MaxConnections was reached
	ListenDisabledTime  time.Duration `stat:"time_in_listen_disabled_us,us"`
	ConnYields          uint64        `stat:"conn_yields"` // times a connection had to let others go first (-R)
	BytesRead           uint64        `stat:"bytes_read"`
	BytesWritten        uint64        `stat:"bytes_written"`

	// Requests, by command and by how they went.
	CmdGet        uint64 `stat:"cmd_get"`
	CmdSet        uint64 `stat:"cmd_set"`
	CmdFlush      uint64 `stat:"cmd_flush"`
	CmdTouch      uint64 `stat:"cmd_touch"`
	CmdMeta       uint64 `stat:"cmd_meta"`
	GetHits       uint64 `stat:"get_hits"`
	GetMisses     uint64 `stat:"get_misses"`
	GetExpired    uint64 `stat:"get_expired"` // misses on items that had expired
	GetFlushed    uint64 `stat:"get_flushed"` // misses on items that were flushed
	DeleteHits    uint64 `stat:"delete_hits"`
	DeleteMisses  uint64 `stat:"delete_misses"`
	IncrHits      uint64 `stat:"incr_hits"`
	IncrMisses    uint64 `stat:"incr_misses"`
	DecrHits      uint64 `stat:"decr_hits"`
	DecrMisses    uint64 `stat:"decr_misses"`
	CASHits       uint64 `stat:"cas_hits"`
	CASMisses     uint64 `stat:"cas_misses"`
	CASBadVal     uint64 `stat:"cas_badval"` // the item had changed
	TouchHits     uint64 `stat:"touch_hits"`
	TouchMisses   uint64 `stat:"touch_misses"`
	AuthCmds      uint64 `stat:"auth_cmds"`
	AuthErrors    uint64 `stat:"auth_errors"`
	StoreTooLarge uint64 `stat:"store_too_large"`
	StoreNoMemory uint64 `stat:"store_no_memory"`

	// Items and their memory, in bytes.
	CurrItems        uint64 `stat:"curr_items"`
	TotalItems       uint64 `stat:"total_items"` // stored since the server started
	Bytes            uint64 `stat:"bytes"`
	LimitMaxBytes    uint64 `stat:"limit_maxbytes"`
	Evictions        uint64 `stat:"evictions"`
	EvictedUnfetched uint64 `stat:"evicted_unfetched"`
	EvictedActive    uint64 `stat:"evicted_active"`
	ExpiredUnfetched uint64 `stat:"expired_unfetched"`
	Reclaimed        uint64 `stat:"reclaimed"` // times an expired item made room
	MallocFails      uint64 `stat:"malloc_fails"`

	// The hash table.
	HashPowerLevel  int    `stat:"hash_power_level"`
	HashBytes       uint64 `stat:"hash_bytes"`
	HashIsExpanding bool   `stat:"hash_is_expanding"`

	// Slab pages, and what their moving has cost.
	SlabGlobalPagePool  uint64 `stat:"slab_global_page_pool"`
	SlabReassignRunning bool   `stat:"slab_reassign_running"`
	SlabsMoved          uint64 `stat:"slabs_moved"`

	// The LRU's two threads.
	CrawlerRunning      bool   `stat:"lru_crawler_running"`
	CrawlerStarts       uint64 `stat:"lru_crawler_starts"`
	CrawlerReclaimed    uint64 `stat:"crawler_reclaimed"`
	CrawlerItemsChecked uint64 `stat:"crawler_items_checked"`
	MaintainerJuggles   uint64 `stat:"lru_maintainer_juggles"`
	MovesToCold         uint64 `stat:"moves_to_cold"`
	MovesToWarm         uint64 `stat:"moves_to_warm"`
	MovesWithinLRU      uint64 `stat:"moves_within_lru"`
	DirectReclaims      uint64 `stat:"direct_reclaims"`
	LRUTailReflocked    uint64 `stat:"lrutail_reflocked"`
	LRUBumpsDropped     uint64 `stat:"lru_bumps_dropped"`

	// What watchers got and did not get.
	LogWorkerDropped  uint64 `stat:"log_worker_dropped"`
	LogWorkerWritten  uint64 `stat:"log_worker_written"`
	LogWatcherSkipped uint64 `stat:"log_watcher_skipped"`
	LogWatcherSent    uint64 `stat:"log_watcher_sent"`
	LogWatchers       uint64 `stat:"log_watchers"`

	Raw map[string]string
}

// General asks for the server's general statistics.
func (s *Server) General(ctx context.Context) (General, error) {
	raw, err := s.stats(ctx)
	g := General{Raw: raw}
	decode(raw, &g)
	return g, err
}
