package client

import (
	"bytes"
	"cmp"
	"io"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client/memcachedtest"
)

// FuzzOneRequest: whatever a call is given, the server sees one request and no
// other, with the key, the value and the flags that were given; or, if the call
// is refused, none.
func FuzzOneRequest(f *testing.F) {
	for _, key := range []string{"k", "a b", "k\r\nflush_all", "k\nflush_all\n", "\x00", "\xff\x80", "k v O1", ""} {
		for _, value := range []string{"", "v", "\r\nflush_all\r\n", "END\r\n"} {
			f.Add(uint8(verbSet), key, []byte(value), uint32(7), int64(time.Hour), uint64(1), "")
		}
	}
	for v := range verbs {
		f.Add(uint8(v), "key", []byte("value"), uint32(1<<32-1), int64(40*24*time.Hour), uint64(1<<64-1), "hint")
		f.Add(uint8(v), "key", []byte("value"), uint32(1), int64(time.Hour), uint64(1<<62+0xff), "hint")
		f.Add(uint8(v), "key", []byte("value"), uint32(1), int64(time.Hour), uint64(0), "h\r\nflush_all")
	}
	for n, text := range []string{"v!f!", "F7c!", "x!I!", "T9", "", "", "C5v!", "F1\r\nflush_all"} {
		f.Add(uint8(verbMeta), "key", []byte("value"), uint32(0), int64(0), uint64(n), text)
	}
	f.Fuzz(func(t *testing.T, v uint8, key string, value []byte, flags uint32, ttl int64, n uint64, text string) {
		exp, err := exptime(time.Duration(ttl))
		keys := keyspace{binary: n%3 > 0, hash: n%5 > 0}
		w, kerr := keys.wire(key)
		if err != nil || kerr != nil || len(value) > 1<<16 {
			return // refused, and so never sent
		}
		r := request{
			verb: verb(v % uint8(verbs)), key: key, wire: w, run: oneRequest(w), value: value, flags: flags,
			exptime: exp, cas: n, delta: n, initial: n, create: n%2 == 0,
		}
		if r.verb == verbLine {
			if r.extra().args, err = commandLine([]string{"verbosity", key}); err != nil {
				return // refused, as a key that is sent as base64 is no word
			}
		}
		if r.verb == verbStats {
			r.extra()
		}
		if applyFuzzed(&r, n, text) != nil {
			return // refused
		}
		wire := r.appendHead(nil, uint32(n)|1)
		if r.hasBody() {
			wire = append(append(wire, value...), crlf...)
		}
		seen := make(chan memcachedtest.Request, 64)
		srv, err := memcachedtest.RunServer(memcachedtest.ServerOptions{
			Network: "none", RecordLimit: -1, Version: "1.6.45",
			Script: func(q memcachedtest.Request) memcachedtest.Action {
				seen <- q
				return memcachedtest.Answer()
			},
		})
		require.NoError(t, err)
		c := srv.Pipe()
		go func() { _, _ = io.Copy(io.Discard, c) }()
		require.NoError(t, c.SetWriteDeadline(time.Now().Add(20*time.Second)))
		_, err = c.Write(append(wire, "mn\r\nversion\r\n"...))
		require.NoError(t, err, "%q", wire)
		first, second, third := <-seen, <-seen, <-seen
		require.NoError(t, c.Close())
		require.NoError(t, srv.Close())
		require.Empty(t, seen)
		require.Equal(t, "mn", second.Line, "behind %q", wire)
		require.Equal(t, "version", third.Line, "behind %q", wire)
		require.Equal(t, string(bytes.TrimSuffix(wire[:bytes.IndexByte(wire, '\n')], []byte("\r"))), first.Line)
		if r.verb < verbPing && r.verb != verbGets && !r.noop() {
			require.Equal(t, w.text, first.Key)
		}
		if r.hasBody() && (r.verb != verbMeta || first.Body != nil) { // dropped unread if a flag is not known
			require.Equal(t, string(value), string(first.Body))
		}
		if r.verb.stores() {
			got, _ := first.Flag('F')
			require.Equal(t, strconv.FormatUint(uint64(flags), 10), cmp.Or(got, "0"))
		}
	})
}
