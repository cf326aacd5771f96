package admin

import (
	"context"
	"fmt"
	"iter"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/internal/direct"
)

// Kind is what a watch is told of.
type Kind string

// The kinds (protocol.txt, "Watchers"). Of those of a proxy an Entry has no more
// than Fields and Line.
const (
	Fetchers    Kind = "fetchers"    // items looked for, also by requests that store
	Mutations   Kind = "mutations"   // items stored, or not stored
	Evictions   Kind = "evictions"   // items evicted
	ConnEvents  Kind = "connevents"  // connections made and closed
	Deletions   Kind = "deletions"   // items deleted; not in 1.6.18
	SysEvents   Kind = "sysevents"   // the crawler, slab pages, extstore
	RawCmds     Kind = "rawcmds"     // nothing, in the servers seen
	ProxyReqs   Kind = "proxyreqs"   // a proxy's requests
	ProxyEvents Kind = "proxyevents" // a proxy's backends
	ProxyUser   Kind = "proxyuser"   // what a proxy's script logs
)

// Watch yields what the server logs of the given kinds, Fetchers if there are none,
// from the moment of the first entry on, which is [Started]. It is told by a
// connection of its own, made when the iteration begins and closed when it ends. The
// server keeps some 256 KiB for it (watcher_logbuf_size) and drops what a slow loop
// has no room for: then an entry [Skipped] says how many. Entries come out of order
// sometimes; Entry.GID orders them.
//
// A watch has no end of its own. It ends with ctx, with the client, or if the
// connection is lost, and then with an error, the last that comes; but however long
// the server has nothing to tell is no error. (A server that has vanished is noticed
// by TCP's keep-alive.) Config.OpTimeout bounds connecting, and Config.StallLimit
// the wait for Started. The error is [ErrDisabled], [ErrBusy] if there are 20
// watchers already, or [client.ErrUnsupported] if the server does not know a kind.
func (s *Server) Watch(ctx context.Context, kinds ...Kind) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		words := []string{"watch"}
		for _, k := range kinds {
			words = append(words, string(k))
		}
		st, err := direct.Open(ctx, s.c, direct.Line{Op: "watch", Server: s.index, Words: words})
		if err != nil {
			yield(Entry{}, err)
			return
		}
		defer st.Close()
		for first := true; ; first = false {
			line, err := st.Next(first)
			var e Entry
			switch {
			case err != nil:
			case !first:
				e = parseEntry(string(line))
			case string(line) == "OK":
				e.Type = Started
			default:
				err = st.Fail(watchRefusal(string(line)))
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// watchRefusal is the error of a first line that is not OK.
func watchRefusal(line string) error {
	if line == "ERROR" {
		return fmt.Errorf("%w: it does not know a kind of log entries (deletions came after 1.6.18)", client.ErrUnsupported)
	}
	return strayLine(line)
}
