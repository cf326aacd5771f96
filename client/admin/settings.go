package admin

import (
	"context"
	"time"
)

// Settings is how the server was started and has been changed since: `stats
// settings`. Fields that the server did not send, or not in a form that is known
// here, are zero; Raw has everything as it came (protocol.txt, "Settings
// statistics"). What is not set is the empty string, where memcached says NULL.
type Settings struct {
	MaxBytes     uint64 `stat:"maxbytes"` // memory for items (-m)
	MaxConns     int    `stat:"maxconns"`
	ItemSizeMax  uint64 `stat:"item_size_max"` // bytes (-I)
	TCPPort      int    `stat:"tcpport"`
	UDPPort      int    `stat:"udpport"`
	Interface    string `stat:"inter"`
	DomainSocket string `stat:"domain_socket"`
	Umask        string `stat:"umask"` // octal
	Verbosity    int    `stat:"verbosity"`
	Threads      int    `stat:"num_threads"`
	TCPBacklog   int    `stat:"tcp_backlog"`
	ReqsPerEvent int    `stat:"reqs_per_event"` // -R
	MaxConnsFast bool   `stat:"maxconns_fast"`

	IdleTimeout     time.Duration `stat:"idle_timeout"` // after which idle connections are closed; 0: never
	Evictions       bool          `stat:"evictions"`    // false: out of memory is an error (-M)
	CASEnabled      bool          `stat:"cas_enabled"`
	FlushEnabled    bool          `stat:"flush_enabled"`
	DumpEnabled     bool          `stat:"dump_enabled"` // metadump, mgdump and cachedump
	ShutdownCommand bool          `stat:"shutdown_command"`
	DetailEnabled   bool          `stat:"detail_enabled"`
	StatKeyPrefix   string        `stat:"stat_key_prefix"`
	TrackSizes      bool          `stat:"track_sizes"`
	MemoryFile      string        `stat:"memory_file"`
	ClientFlagsSize int           `stat:"client_flags_size"` // bytes; not sent by 1.6.18

	AuthSASL  bool `stat:"auth_enabled_sasl"`
	AuthASCII bool // -Y

	SSLEnabled    bool   `stat:"ssl_enabled"`
	SSLChainCert  string `stat:"ssl_chain_cert"` // path
	SSLKey        string `stat:"ssl_key"`        // path
	SSLCACert     string `stat:"ssl_ca_cert"`    // path
	SSLVerifyMode int    `stat:"ssl_verify_mode"`
	SSLMinVersion string `stat:"ssl_min_version"`

	GrowthFactor       float64 `stat:"growth_factor"`
	ChunkSize          uint64  `stat:"chunk_size"`
	SlabChunkMax       uint64  `stat:"slab_chunk_max"`
	SlabReassign       bool    `stat:"slab_reassign"`
	SlabAutomove       int     `stat:"slab_automove"`
	SlabAutomoveRatio  float64 `stat:"slab_automove_ratio"`
	SlabAutomoveWindow int     `stat:"slab_automove_window"`
	HashAlgorithm      string  `stat:"hash_algorithm"`
	HashPowerInit      int     `stat:"hashpower_init"`

	LRUCrawler        bool          `stat:"lru_crawler"`
	LRUCrawlerSleep   time.Duration `stat:"lru_crawler_sleep,us"`
	LRUCrawlerToCrawl uint64        `stat:"lru_crawler_tocrawl"`
	LRUMaintainer     bool          `stat:"lru_maintainer_thread"`
	LRUSegmented      bool          `stat:"lru_segmented"`
	HotLRUPercent     int           `stat:"hot_lru_pct"`
	WarmLRUPercent    int           `stat:"warm_lru_pct"`
	HotMaxFactor      float64       `stat:"hot_max_factor"`
	WarmMaxFactor     float64       `stat:"warm_max_factor"`
	TempLRU           bool          `stat:"temp_lru"`
	TemporaryTTL      time.Duration `stat:"temporary_ttl"`

	WatcherLogBuf uint64 `stat:"watcher_logbuf_size"`
	WorkerLogBuf  uint64 `stat:"worker_logbuf_size"`

	Raw map[string]string
}

// Settings asks for the server's settings.
func (s *Server) Settings(ctx context.Context) (Settings, error) {
	raw, err := s.stats(ctx, "settings")
	set := Settings{Raw: raw}
	decode(raw, &set)
	switch raw["auth_enabled_ascii"] { // else it is the path of the file with the users
	case "", "no":
	default:
		set.AuthASCII = true
	}
	return set, err
}
