package admin

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Raw asks for any group of statistics, as it comes: none for the general ones,
// "cachedump", "1", "10" for one with arguments, "extstore" or "proxy" for those
// that have no method of their own. A group that the server does not know is a
// [client.ErrServer].
//
// The groups sizes_enable and sizes_disable are refused with [client.ErrArgument]:
// their replies have no end. They could bring a server down, and newer ones have
// dropped them; use its -o track_sizes.
func (s *Server) Raw(ctx context.Context, group ...string) (map[string]string, error) {
	return s.stats(ctx, group...)
}

// Reset sets the server's counters back to zero: `stats reset`.
func (s *Server) Reset(ctx context.Context) error {
	_, err := s.stats(ctx, "reset")
	return err
}

// Sizes is how many items there are of which size: `stats sizes`. The server keeps
// count only if it was started with -o track_sizes.
type Sizes struct {
	Enabled bool
	Counts  []SizeCount // in order of size
	Raw     map[string]string
}

// SizeCount is how many items have up to Bytes bytes, key and overhead included,
// and more than 32 fewer.
type SizeCount struct{ Bytes, Items uint64 }

// Sizes asks for the histogram of item sizes.
func (s *Server) Sizes(ctx context.Context) (Sizes, error) {
	raw, err := s.stats(ctx, "sizes")
	_, status := raw["sizes_status"] // if all is well there is none
	sizes := Sizes{Enabled: err == nil && !status, Raw: raw}
	for k, v := range raw {
		size, err := strconv.ParseUint(k, 10, 64)
		n, err2 := strconv.ParseUint(v, 10, 64)
		if err == nil && err2 == nil {
			sizes.Counts = append(sizes.Counts, SizeCount{size, n})
		}
	}
	slices.SortFunc(sizes.Counts, func(a, b SizeCount) int { return cmp.Compare(a.Bytes, b.Bytes) })
	return sizes, err
}

// Conns is the server's sockets: `stats conns`. Raw has everything as it came.
type Conns struct {
	Conns []Conn // in order of FD
	Raw   map[string]string
}

// Conn is one socket of the server. Fields that the server did not send are zero;
// Raw has what it sent of this socket, without the number.
type Conn struct {
	FD         int           // in the server's process
	Addr       string        `stat:"addr"`        // the other side's, or where it listens: "tcp:127.0.0.1:4711"
	ListenAddr string        `stat:"listen_addr"` // the server's; empty if it listens
	State      string        `stat:"state"`       // "conn_listening", "conn_parse_cmd" and so on, see protocol.txt
	Idle       time.Duration `stat:"secs_since_last_cmd"`
	Raw        map[string]string
}

// Conns asks for the server's sockets.
func (s *Server) Conns(ctx context.Context) (Conns, error) {
	raw, err := s.stats(ctx, "conns")
	conns := Conns{Raw: raw}
	numbers, by := numbered(raw, "")
	for _, n := range numbers {
		c := Conn{FD: n, Raw: by[n]}
		decode(c.Raw, &c)
		conns.Conns = append(conns.Conns, c)
	}
	return conns, err
}

// SetDetail turns the counting by key prefix on or off: `stats detail`. It takes a
// lock in the server at each request while it is on. See -D of the server for where
// a prefix ends. Classic commands are counted, and not those of the meta protocol
// (as of 1.6.18), which this client sends for everything but GetMulti.
func (s *Server) SetDetail(ctx context.Context, on bool) error {
	word := "off"
	if on {
		word = "on"
	}
	_, err := s.stats(ctx, "detail", word)
	return err
}

// Prefix is what was counted of the keys that share a prefix. Raw is how it came.
type Prefix struct {
	Gets, Hits, Sets, Deletes uint64
	Raw                       string
}

// Detail returns what was counted by key prefix since it was turned on. The prefix of
// keys that begin with its end is the empty one.
func (s *Server) Detail(ctx context.Context) (map[string]Prefix, error) {
	raw, err := s.stats(ctx, "detail", "dump")
	prefixes := make(map[string]Prefix, len(raw))
	for name, v := range raw {
		p := Prefix{Raw: v}
		fields := strings.Fields(v) // get 1 hit 1 set 2 del 0
		for i := 0; i+1 < len(fields); i += 2 {
			n, err := strconv.ParseUint(fields[i+1], 10, 64)
			if err != nil {
				continue
			}
			switch fields[i] {
			case "get":
				p.Gets = n
			case "hit":
				p.Hits = n
			case "set":
				p.Sets = n
			case "del":
				p.Deletes = n
			}
		}
		prefixes[name] = p
	}
	return prefixes, err
}
