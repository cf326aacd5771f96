package admin

import (
	"context"
	"encoding/base64"
	"iter"
	"strings"
	"time"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/internal/direct"
	"github.com/memring/memring/reader"
)

// KeyInfo is what a dump says of one item. It is the caller's own.
type KeyInfo struct {
	Key        string    // as it was stored; any bytes, if as base64
	Expiry     time.Time // zero: never
	LastAccess time.Time // in seconds, and written to once a minute at most
	CAS        uint64
	Fetched    bool   // it was read since it was stored
	Class      int    // slab class
	Size       uint64 // bytes in the server's memory, key and overhead included
	Flags      uint64 // client flags, 64 bits wide in some builds
	HasFlags   bool   // the server sends them: 1.6.18 does not
}

// Keys dumps what the server has: lru_crawler metadump. Items that come or go
// meanwhile may be in it or not, and the crawler passes over those that are in use
// at that moment.
//
// The dump has a connection of its own, made when the iteration begins and closed
// when it ends, for whatever reason. It streams: little is read ahead, and a slow
// loop slows the server's crawler down, which serves one dump at a time. (From 30
// minutes without progress on, the server gives up.) So the number of keys costs no
// memory here.
//
// While the crawler is at work already, as it is for a moment after each dump and now
// and then by itself, or the hash table is being resized, the dump waits for its turn
// and asks again, on a new connection each time and in 100 ms at the latest.
//
// An error is the last that comes. The keys before it are real, but not all of
// them; only a dump that ends without an error is whole. It is [ErrBusy] if its turn
// has not come in Config.StallLimit, or the hash table is resized in its midst;
// [ErrBadClass]; or [ErrDisabled]. Config.OpTimeout bounds connecting and the sending
// of the command; then each wait for the dump to go on is bounded by
// Config.StallLimit, and the whole by ctx alone. Closing the client ends it with
// [client.ErrClosed].
func (s *Server) Keys(ctx context.Context, where Scope) iter.Seq2[KeyInfo, error] {
	return dump(ctx, s, "metadump", where, parseKey)
}

// MGDump dumps the keys that the server has, and nothing else of the items:
// lru_crawler mgdump, which is cheaper than Keys and in all else behaves as it. It
// needs memcached 1.6.19, and is [client.ErrUnsupported] on an older one.
func (s *Server) MGDump(ctx context.Context, where Scope) iter.Seq2[string, error] {
	return dump(ctx, s, "mgdump", where, parseMG)
}

// dump iterates over what parse makes of a dump's lines.
func dump[T any](ctx context.Context, s *Server, kind string, where Scope, parse func([]byte) (T, bool)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		op := "lru_crawler " + kind
		if !where.valid() {
			yield(none, s.refuse(op, "the scope is neither AllClasses nor ByHash nor from Classes"))
			return
		}
		st, line, err := s.turn(ctx, direct.Line{Op: op, Server: s.index, Words: []string{"lru_crawler", kind, string(where)}})
		if err != nil {
			yield(none, err)
			return
		}
		defer st.Close()
		for first := true; ; first = false {
			item, ok := parse(line)
			if !ok {
				if err := s.dumpEnd(ctx, kind, string(line), first); err != nil {
					yield(none, st.Fail(err))
				}
				return
			}
			if !yield(item, nil) {
				return
			}
			if line, err = st.Next(true); err != nil {
				yield(none, err)
				return
			}
		}
	}
}

// tooOld is the error of a command that the server does not know.
func (s *Server) tooOld(ctx context.Context, command, need string) error {
	have, err := s.Version(ctx)
	if err != nil {
		have = "" // it is no more than a hint
	}
	return &client.UnsupportedError{Feature: command, Need: need, Have: have, Server: s.name}
}

// dumpEnd takes the line of a dump that is no item, which ends it: nil if it is whole.
func (s *Server) dumpEnd(ctx context.Context, kind, line string, first bool) error {
	switch {
	case kind == "metadump" && line == "END", kind == "mgdump" && line == "EN":
		return nil
	case first && strings.HasPrefix(line, "NOTSTARTED "): // there are no items
		return nil
	case first && kind == "mgdump" && line == "ERROR":
		return s.tooOld(ctx, "lru_crawler mgdump", "1.6.19")
	}
	return strayLine(line)
}

// strayLine is the error of a line that is not what was asked for: it says no, or
// something that nobody can make sense of.
func strayLine(line string) error {
	if err := refusalOf(line); err != nil {
		return err
	}
	if isErrorLine(line) {
		return &client.ServerError{Line: line}
	}
	return &reader.DesyncError{Reason: "a line that is neither an item nor an end"}
}

// parseKey reads a line of metadump:
//
//	key=<key> exp=<time> la=<time> cas=<n> fetch=yes|no cls=<n> size=<n> flags=<n>
//
// It has to have a key. The other fields "are subject to change" (protocol.txt,
// "LRU_Crawler"): they may be missing, and there may be more, but those that are
// there have to make sense.
func parseKey(line []byte) (k KeyInfo, ok bool) {
	seen := false
	for name, value := range pairs(line) {
		ok := true
		switch string(name) {
		case "key":
			k.Key, ok = unescape(value)
			seen = ok && !seen // twice is no line of a dump
			ok = seen
		case "exp":
			if string(value) != "-1" {
				k.Expiry, ok = unixTime(value)
			}
		case "la":
			k.LastAccess, ok = unixTime(value)
		case "cas":
			k.CAS, ok = parseUint(value)
		case "fetch":
			k.Fetched = string(value) == "yes"
			ok = k.Fetched || string(value) == "no"
		case "cls":
			var n uint64
			n, ok = parseUint(value)
			k.Class, ok = int(n), ok && n <= maxClass
		case "size":
			k.Size, ok = parseUint(value)
		case "flags":
			k.Flags, ok = parseUint(value)
			k.HasFlags = ok
		}
		if !ok {
			return KeyInfo{}, false
		}
	}
	if k.Key == "" {
		return KeyInfo{}, false
	}
	return k, true
}

// parseMG reads a line of mgdump, which is a request for the item:
//
//	mg <key>
//	mg <key in base64> b
func parseMG(line []byte) (key string, ok bool) {
	rest, ok := strings.CutPrefix(string(line), "mg ")
	if !ok {
		return "", false
	}
	if coded, ok := strings.CutSuffix(rest, " b"); ok {
		raw, err := base64.StdEncoding.Strict().DecodeString(coded)
		return string(raw), err == nil && len(raw) > 0 && plain(coded) // it takes line ends
	}
	return rest, plain(rest)
}
