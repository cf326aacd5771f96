package memcachedtest

import (
	"fmt"
	"os"
	"strings"
	"time"
)

// parseStats knows a small part of memcached's statistics, under its names.
func parseStats(version string, t []string) command {
	sub := ""
	if len(t) > 1 {
		sub = t[1]
	}
	switch sub {
	case "":
		return command{run: func(s *store, _ []byte) string {
			bytes := 0
			for key, it := range s.items {
				bytes += len(key) + len(it.value)
			}
			return stats(
				"pid", os.Getpid(),
				"uptime", s.now(),
				"time", time.Now().Unix(),
				"version", version,
				"pointer_size", 64,
				"cmd_get", s.counts.gets,
				"cmd_set", s.counts.sets,
				"get_hits", s.counts.getHits,
				"get_misses", s.counts.gets-s.counts.getHits,
				"threads", 1,
				"bytes", bytes,
				"curr_items", len(s.items),
				"total_items", s.counts.totalItems,
				"evictions", 0,
			)
		}}
	case "settings":
		return command{run: func(s *store, _ []byte) string {
			return stats(
				"maxbytes", 64<<20,
				"maxconns", 1024,
				"verbosity", 0,
				"num_threads", 1,
				"item_size_max", s.limit,
				"cas_enabled", "yes",
				"binding_protocol", "ascii",
			)
		}}
	case "items", "slabs", "sizes":
		return reply("END\r\n")
	case "reset":
		return command{run: func(s *store, _ []byte) string {
			s.counts = counts{}
			return "RESET\r\n"
		}}
	}
	return reply(unknown)
}

func stats(pairs ...any) string {
	var b strings.Builder
	for i := 0; i < len(pairs); i += 2 {
		fmt.Fprintf(&b, "STAT %v %v\r\n", pairs[i], pairs[i+1])
	}
	b.WriteString("END\r\n")
	return b.String()
}
