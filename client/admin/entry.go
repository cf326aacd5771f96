package admin

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// The types of entries that have fields here. There are others, and there will be.
const (
	Started   = "started"    // ours: the server logs from here on
	Skipped   = "skipped"    // ours: the server has dropped Entry.Skipped entries
	ItemGet   = "item_get"   // of Fetchers
	ItemStore = "item_store" // of Mutations
	Eviction  = "eviction"   // of Evictions
	ExtWrite  = "extwrite"   // of Evictions: moved to extstore
	Deleted   = "deleted"    // of Deletions
	ConnNew   = "conn_new"   // of ConnEvents
	ConnClose = "conn_close" // of ConnEvents
)

// Entry is one log entry. It is the caller's own. Fields that the server did not
// send, or not in a form that is known here, are zero; Fields and Line have
// everything as it came.
type Entry struct {
	Type string
	Time time.Time // in microseconds, by the server's clock
	GID  uint64    // the entry's number; 0 for our own two

	Key    string        // as it was stored; any bytes, if as base64
	Status string        // "found", "not_found", "flushed", "expired"; "stored", "not_stored", "exists", …
	Cmd    string        // "set", "add", "cas", …; "delete", "md"
	Class  int           // slab class
	Size   uint64        // bytes of the value
	TTL    time.Duration // what was left of it; negative: it was over
	// Expires tells a TTL of zero from none.
	Expires bool
	Fetched bool          // of Eviction: it was read since it was stored
	Idle    time.Duration // of Eviction: since the last access

	FD        int    // of the connection, in the server's process
	Remote    string // the other side's address, "unix" for a UNIX socket
	Port      uint16 // and its port
	Transport string // "tcp", "local", "udp"
	Reason    string // of ConnClose: "normal", "error", "idle_timeout", "shutdown"

	Skipped uint64            // of Skipped: how many entries
	Fields  map[string]string // by memcached's names, the key still encoded; nil for Started
	Line    string
}

// parseEntry reads a log line, which is not known to be one:
//
//	ts=<seconds>.<microseconds> gid=<n> type=<type> …
//	skipped=<n>
//
// Texts in it can have spaces: a word without a name belongs to the field before
// it, and a proxy's request to the end of the line.
func parseEntry(line string) Entry {
	e := Entry{Line: line, Fields: make(map[string]string)}
	rest, last := line, ""
	for rest != "" {
		if value, ok := strings.CutPrefix(rest, "req="); ok {
			e.Fields["req"] = value
			break
		}
		var word string
		word, rest, _ = strings.Cut(rest, " ")
		name, value, ok := strings.Cut(word, "=")
		switch _, again := e.Fields[name]; {
		case !ok || name == "":
			if last != "" {
				e.Fields[last] += " " + word
			}
		case !again: // a proxy's requests have two types, of which the first is the entry's
			e.Fields[name], last = value, name
		}
	}
	e.fill()
	return e
}

// fill sets the typed fields.
func (e *Entry) fill() {
	f := e.Fields
	e.Type, e.Status, e.Cmd = f["type"], f["status"], f["cmd"]
	e.Remote, e.Transport, e.Reason = f["rip"], f["transport"], f["reason"]
	e.Time = microTime(f["ts"])
	e.GID = uintOf(f["gid"], math.MaxUint64)
	e.Key, _ = unescape([]byte(f["key"]))
	e.Class = int(uintOf(f["clsid"], maxClass))
	e.Size = uintOf(f["size"], math.MaxInt64)
	e.FD = int(uintOf(f["cfd"], math.MaxInt32))
	e.Port = uint16(uintOf(f["rport"], math.MaxUint16))
	e.Fetched = f["fetch"] == "yes"
	e.Idle, _ = secondsOf(f["la"])
	if ttl, ok := secondsOf(f["ttl"]); ok {
		e.setTTL(ttl)
	}
	if n, ok := strings.CutPrefix(e.Line, "skipped="); ok && e.Type == "" {
		e.Type, e.Skipped = Skipped, uintOf(n, math.MaxUint64)
	}
}

// setTTL takes what a ttl field says. Entries of stores have 0 for none, and an
// unsigned number, so that one that was over is next to 2^32; the others have -1.
func (e *Entry) setTTL(ttl time.Duration) {
	if e.Type == ItemStore {
		e.Expires = ttl != 0
		e.TTL = time.Duration(int32(uint32(ttl/time.Second))) * time.Second
		return
	}
	if e.Expires = ttl != -time.Second; e.Expires {
		e.TTL = ttl
	}
}

// microTime reads <seconds>.<microseconds>, where the latter are a number of their
// own: ts=5.42 is 42 µs past 5.
func microTime(s string) time.Time {
	sec, micro, _ := strings.Cut(s, ".")
	n, err := strconv.ParseInt(sec, 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.Unix(n, int64(uintOf(micro, 999_999))*1000)
}

// uintOf is the number that s is, 0 if it is none or above most.
func uintOf(s string, most uint64) uint64 {
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil || n > most {
		return 0
	}
	return n
}
