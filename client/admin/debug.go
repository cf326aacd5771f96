package admin

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/memring/memring/client"
)

// Meta is what the server knows of one item beside its value. Fields has everything
// as it came; what the server did not send, or not in a form that is known here, is
// zero.
type Meta struct {
	Expires bool          // if false, it has no TTL; or, on older servers, one second left
	TTL     time.Duration // what is left of it
	Idle    time.Duration // since it was last accessed
	CAS     uint64
	Fetched bool   // it was read since it was stored
	Class   int    // slab class
	Size    uint64 // bytes in the server's memory, key and overhead included
	Fields  map[string]string
}

// Debug asks what the server knows of an item: me. It does not count as an access.
// The server is this one, whether or not a client would look for the key there, and
// the key is the server's, as Keys has it. One with spaces or control characters is
// sent as base64, and has [client.MaxBinaryKeyLen] bytes at most. The error is
// [client.ErrNotFound] if there is no such item, and [client.ErrKey].
func (s *Server) Debug(ctx context.Context, key string) (Meta, error) {
	coded := encode64(key)
	// How the answer spells the key depends on how its item was stored.
	answers := []string{"ME " + coded, "EN"}
	words := []string{"me", key}
	switch {
	case plain(key):
		answers = append(answers, "ME "+key)
	case len(key) == 0 || len(key) > client.MaxBinaryKeyLen:
		return Meta{}, &client.OpError{Op: "me", Server: s.name, Outcome: client.NotSent, Err: fmt.Errorf(
			"%w: it has %d bytes, not 1 to %d, or %d with a space or a control character among them",
			client.ErrKey, len(key), client.MaxKeyLen, client.MaxBinaryKeyLen)}
	default:
		// Newer servers (process_meta_command) look at the flag only if something is
		// behind it; none minds that.
		words = []string{"me", coded, "b", "b"}
	}
	line, err := s.ask(ctx, answers, words...)
	if err == nil && line == "EN" {
		err = &client.OpError{Op: "me", Server: s.name, Err: client.ErrNotFound}
	}
	if err != nil {
		return Meta{}, err
	}
	_, rest, _ := strings.Cut(line[len("ME "):], " ")
	return parseMeta(rest), nil
}

// parseMeta reads what stands behind the key:
//
//	exp=<seconds> la=<seconds> cas=<n> fetch=yes|no cls=<n> size=<n>
func parseMeta(line string) Meta {
	m := Meta{Fields: make(map[string]string)}
	for name, value := range pairs([]byte(line)) {
		m.Fields[string(name)] = string(value)
		switch string(name) {
		case "exp":
			// Older servers, 1.6.18 among them, subtract the wrong way round. Only
			// what has not expired is ever told of, so the sign says nothing.
			if ttl, ok := secondsOf(string(value)); ok && ttl != -time.Second {
				m.Expires, m.TTL = true, max(ttl, -ttl)
			}
		case "la":
			if idle, ok := secondsOf(string(value)); ok {
				m.Idle = idle
			}
		case "cas":
			m.CAS, _ = parseUint(value)
		case "fetch":
			m.Fetched = string(value) == "yes"
		case "cls":
			if n, ok := parseUint(value); ok && n <= maxClass {
				m.Class = int(n)
			}
		case "size":
			m.Size, _ = parseUint(value)
		}
	}
	return m
}
