package admin

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

// many is so many items that no dump of them fits into what the kernel buffers.
const many = 200_000

// onMany runs f on both engines, each against a memcached that has many items, and
// nothing that would keep the crawler from any of them: neither do they move about in
// their LRU, nor is the hash table being resized.
func onMany(t *testing.T, f func(t *testing.T, s *Server, c *client.Client, mc *memcachedtest.Process)) {
	onEngines(t, func(t *testing.T, cfg *client.Config) {
		mc := memcachedtest.Start(t, memcachedtest.Options{Args: []string{"-o", "no_lru_maintainer,hashpower=20"}})
		fill(t, mc, many)
		s, c := dial(t, cfg, mc.Addr())
		f(t, s, c, mc)
	})
}

func TestKeysAll(t *testing.T) {
	onMany(t, func(t *testing.T, s *Server, _ *client.Client, mc *memcachedtest.Process) {
		for _, where := range []Scope{ByHash, AllClasses} {
			seen, n := make([]bool, many), 0
			for _, k := range whole(t, s.Keys(t.Context(), where)) {
				i := index(t, k.Key)
				require.False(t, seen[i], "key %d comes twice", i)
				seen[i] = true
				n++
			}
			require.Equal(t, many, n, "of %s", where)
		}

		if !atLeast(t, mc, 19) {
			_, err := collect(s.MGDump(t.Context(), ByHash))
			requireRefused(t, err, client.ErrUnsupported, "lru_crawler mgdump", s)
			var old *client.UnsupportedError
			require.ErrorAs(t, err, &old)
			require.Equal(t, client.UnsupportedError{Feature: "lru_crawler mgdump", Need: "1.6.19", Have: mc.Version(), Server: s.Addr()}, *old)
			return
		}
		require.Len(t, whole(t, s.MGDump(t.Context(), ByHash)), many)
	})
}

// whole returns all that seq yields, which is no error.
func whole[T any](t *testing.T, seq iter.Seq2[T, error]) []T {
	t.Helper()
	all, err := collect(seq)
	require.NoError(t, err)
	return all
}

// index is the number in a key of fill.
func index(t *testing.T, key string) int {
	n, ok := strings.CutPrefix(key, "key-")
	i, err := strconv.Atoi(n)
	require.True(t, ok && err == nil && i < many, "%q", key)
	return i
}

// collect returns all that seq yields up to an error, which has to be its last.
func collect[T any](seq iter.Seq2[T, error]) (all []T, last error) {
	for v, err := range seq {
		if last != nil {
			panic("something comes behind an error")
		}
		if last = err; err == nil {
			all = append(all, v)
		}
	}
	return all, last
}

// What a dump keeps does not grow with it. 200,000 keys and what is said of them
// are some 30 MB.
func TestKeysMemory(t *testing.T) {
	onMany(t, func(t *testing.T, s *Server, _ *client.Client, _ *memcachedtest.Process) {
		before := heap()
		n := 0
		for _, err := range s.Keys(t.Context(), ByHash) {
			require.NoError(t, err)
			if n++; n%(many/4) == 0 {
				require.Less(t, heap(), before+4<<20, "after %d keys", n)
			}
		}
		require.Equal(t, many, n)
	})
}

// heap is how many bytes are in use.
func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func TestKeyInfo(t *testing.T) {
	onMatrix(t, nil, func(t *testing.T, s *Server, c *client.Client, mc *memcachedtest.Process) {
		require.Empty(t, whole(t, s.Keys(t.Context(), AllClasses)))

		wild := "\x00 \r\n%=+\xff"
		send(t, mc, func(w *bufio.Writer) {
			fmt.Fprintf(w, "set a%%20=+ß 7 0 1\r\nx\r\nset old 0 3600 3\r\nabc\r\nget old\r\nms %s 1 b\r\nx\r\n", encode64(wild))
		})
		for _, where := range []Scope{AllClasses, ByHash, Classes(1, 2)} {
			byKey := map[string]KeyInfo{}
			for _, k := range whole(t, s.Keys(t.Context(), where)) {
				byKey[k.Key] = k
				require.Equal(t, 1, k.Class)
				require.NotZero(t, k.CAS)
				require.Greater(t, k.Size, uint64(len(k.Key)))
				require.WithinDuration(t, time.Now(), k.LastAccess, time.Hour)
			}
			require.Len(t, byKey, 3)
			require.Contains(t, byKey, wild)
			plain, old := byKey["a%20=+ß"], byKey["old"]
			require.True(t, plain.Expiry.IsZero())
			require.WithinDuration(t, time.Now().Add(time.Hour), old.Expiry, time.Minute)
			require.True(t, old.Fetched)
			require.False(t, plain.Fetched)
			if plain.HasFlags {
				require.Equal(t, uint64(7), plain.Flags)
			}
		}
		if atLeast(t, mc, 19) {
			require.ElementsMatch(t, []string{"a%20=+ß", "old", wild}, whole(t, s.MGDump(t.Context(), AllClasses)))
		}
		require.Empty(t, whole(t, s.Keys(t.Context(), Classes(5))))
		_, err := collect(s.Keys(t.Context(), Classes(99)))
		requireRefused(t, err, ErrBadClass, "lru_crawler metadump", s)
		for _, bad := range []Scope{"", "1,", "x", "all\r\nflush_all", Classes(), "1 2"} {
			_, err = collect(s.Keys(t.Context(), bad))
			requireUnsent(t, err, client.ErrArgument)
			_, err = collect(s.MGDump(t.Context(), bad))
			requireUnsent(t, err, client.ErrArgument)
		}
		requireAlive(t, c, 1)
	})
}

// A loop that is left closes its connection at once, so that the crawler is free
// for the next.
func TestKeysBreak(t *testing.T) {
	onMany(t, func(t *testing.T, s *Server, c *client.Client, mc *memcachedtest.Process) {
		begun(t, s, func() {})
		begun(t, s, func() {})
		eventually(t, "nothing but the client's own connection is left", func() bool {
			g, err := s.General(patient(t))
			require.NoError(t, err)
			return g.CurrConnections == 1
		})
	})
}

// begun calls f in the midst of a dump, and leaves that then.
func begun(t *testing.T, s *Server, f func()) {
	for _, err := range s.Keys(t.Context(), AllClasses) {
		require.NoError(t, err)
		f()
		break
	}
}

// The crawler serves one at a time, and the next when it is free.
func TestKeysInTurn(t *testing.T) {
	onMany(t, func(t *testing.T, s *Server, c *client.Client, _ *memcachedtest.Process) {
		var keys []KeyInfo
		var err error
		next := make(chan struct{})
		begun(t, s, func() {
			requireRefused(t, s.Crawl(patient(t), AllClasses), ErrBusy, "lru_crawler crawl", s)
			before := connections(t, s)
			go func() {
				defer close(next)
				keys, err = collect(s.Keys(t.Context(), ByHash))
			}()
			eventually(t, "it has asked twice", func() bool { return connections(t, s) >= before+2 })
		})
		<-next
		require.NoError(t, err)
		require.Len(t, keys, many)
		requireAlive(t, c, 1)
	})
}

// connections is how many the server has taken.
func connections(t *testing.T, s *Server) uint64 {
	g, err := s.General(patient(t))
	require.NoError(t, err)
	return g.TotalConnections
}

// What ends a dump in its midst does so at once, although keys have been read ahead,
// and with an error.
func TestKeysCutShort(t *testing.T) {
	onMany(t, func(t *testing.T, s *Server, c *client.Client, mc *memcachedtest.Process) {
		cut := func(ctx context.Context, end func()) (n int, last error) {
			t.Helper()
			for _, err := range s.Keys(ctx, AllClasses) {
				if last = err; err != nil {
					continue // nothing comes behind it, as collect knows
				}
				if n++; n == 10 {
					end()
				}
			}
			require.Error(t, last)
			require.ErrorContains(t, last, "memring: lru_crawler metadump "+s.Addr()+": ")
			require.NotContains(t, last.Error(), "key-")
			return n, last
		}
		ctx, cancel := context.WithCancel(t.Context())
		n, err := cut(ctx, cancel)
		require.ErrorIs(t, err, context.Canceled)
		require.Equal(t, 10, n)

		ctx, cancelWith := context.WithCancelCause(t.Context())
		n, err = cut(ctx, func() { cancelWith(errors.New("enough")) })
		require.ErrorContains(t, err, "enough")
		require.Equal(t, 10, n)

		n, err = cut(t.Context(), func() { require.NoError(t, mc.Stop()) })
		require.ErrorIs(t, err, client.ErrConnLost)
		require.Less(t, n, many)

		require.NoError(t, mc.Restart(t.Context()))
		fill(t, mc, many)
		n, err = cut(t.Context(), func() { require.NoError(t, c.Close()) })
		require.ErrorIs(t, err, client.ErrClosed)
		require.Equal(t, 10, n)
	})
}

func TestDumpDisabled(t *testing.T) {
	onMatrix(t, []string{"-X", "-W"}, func(t *testing.T, s *Server, _ *client.Client, mc *memcachedtest.Process) {
		_, err := collect(s.Keys(t.Context(), AllClasses))
		requireRefused(t, err, ErrDisabled, "lru_crawler metadump", s)
		_, err = s.Raw(patient(t), "cachedump", "1", "1")
		requireRefused(t, err, ErrDisabled, "stats", s)
		if atLeast(t, mc, 19) {
			_, err = collect(s.MGDump(t.Context(), AllClasses))
			requireRefused(t, err, ErrDisabled, "lru_crawler mgdump", s)
		}
		_, err = collect(s.Watch(t.Context()))
		requireRefused(t, err, ErrDisabled, "watch", s)
	})
	onMatrix(t, []string{"-o", "no_lru_crawler"}, func(t *testing.T, s *Server, _ *client.Client, _ *memcachedtest.Process) {
		_, err := collect(s.Keys(t.Context(), AllClasses))
		requireRefused(t, err, ErrDisabled, "lru_crawler metadump", s)
		requireRefused(t, s.Crawl(patient(t), AllClasses), ErrDisabled, "lru_crawler crawl", s)
	})
}
