package admin

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

// What a command changes can be read in the settings.
func TestSetters(t *testing.T) {
	onMatrix(t, nil, func(t *testing.T, s *Server, c *client.Client, _ *memcachedtest.Process) {
		ctx := patient(t)
		now := func() Settings {
			t.Helper()
			set, err := s.Settings(ctx)
			require.NoError(t, err)
			return set
		}
		require.NoError(t, s.SetVerbosity(ctx, 1))
		require.Equal(t, 1, now().Verbosity)
		require.NoError(t, s.SetVerbosity(ctx, 0))
		require.Equal(t, 0, now().Verbosity)

		require.NoError(t, s.SetMemLimit(ctx, 96))
		require.Equal(t, uint64(96<<20), now().MaxBytes)
		requireRefused(t, s.SetMemLimit(ctx, 1), ErrMemLimit, "cache_memlimit", s)
		requireRefused(t, s.SetMemLimit(ctx, math.MaxInt32), ErrMemLimit, "cache_memlimit", s)

		for _, mode := range []Automove{AutomoveAggressive, AutomoveOff, AutomoveOn} {
			require.NoError(t, s.SetAutomove(ctx, mode))
			require.Equal(t, int(mode), now().SlabAutomove)
		}

		require.NoError(t, s.SetLRUSegmented(ctx, false))
		require.False(t, now().LRUSegmented)
		require.NoError(t, s.SetLRUSegmented(ctx, true))
		require.True(t, now().LRUSegmented)

		require.NoError(t, s.TuneLRU(ctx, LRUTuning{HotPercent: 10, WarmPercent: 70, HotMaxFactor: 0.25, WarmMaxFactor: 3}))
		set := now()
		require.Equal(t, LRUTuning{10, 70, 0.25, 3},
			LRUTuning{set.HotLRUPercent, set.WarmLRUPercent, set.HotMaxFactor, set.WarmMaxFactor})

		require.NoError(t, s.SetTempTTL(ctx, 61500*time.Millisecond))
		set = now()
		require.True(t, set.TempLRU)
		require.Equal(t, 62*time.Second, set.TemporaryTTL)
		require.NoError(t, s.SetTempTTL(ctx, -1))
		require.False(t, now().TempLRU)

		require.NoError(t, s.SetCrawlerSleep(ctx, 3*time.Millisecond))
		require.Equal(t, 3*time.Millisecond, now().LRUCrawlerSleep)
		require.NoError(t, s.SetCrawlerLimit(ctx, math.MaxUint32))
		require.Equal(t, uint64(math.MaxUint32), now().LRUCrawlerToCrawl)
		requireAlive(t, c, 1)
	})
}

func TestCrawler(t *testing.T) {
	onMatrix(t, nil, func(t *testing.T, s *Server, c *client.Client, _ *memcachedtest.Process) {
		ctx := patient(t)
		crawl := func(where Scope) (err error) {
			eventually(t, "the crawler is free", func() bool {
				err = s.Crawl(ctx, where)
				return !errors.Is(err, ErrBusy)
			})
			return err
		}
		if err := crawl(AllClasses); err != nil { // not every server minds
			requireRefused(t, err, ErrNothing, "lru_crawler crawl", s)
		}
		set(t, c, "a", "x")
		before, err := s.General(ctx)
		require.NoError(t, err)
		require.NoError(t, crawl(Classes(1)))
		eventually(t, "the item is looked at", func() bool {
			g, err := s.General(ctx)
			require.NoError(t, err)
			return g.CrawlerStarts > before.CrawlerStarts && g.CrawlerItemsChecked > before.CrawlerItemsChecked
		})
		requireRefused(t, crawl(Classes(99)), ErrBadClass, "lru_crawler crawl", s)

		requireRefused(t, s.SetCrawler(ctx, true), client.ErrServer, "lru_crawler enable", s) // it runs
		require.NoError(t, s.SetCrawler(ctx, false))
		eventually(t, "the crawler has stopped", func() bool {
			set, err := s.Settings(ctx)
			require.NoError(t, err)
			return !set.LRUCrawler
		})
		requireRefused(t, s.Crawl(ctx, AllClasses), ErrDisabled, "lru_crawler crawl", s)
		_, err = collect(s.Keys(ctx, AllClasses))
		requireRefused(t, err, ErrDisabled, "lru_crawler metadump", s)
		require.NoError(t, s.SetCrawler(ctx, true))
		require.NoError(t, crawl(AllClasses))
		requireAlive(t, c, 1)
	})
}

func TestReassign(t *testing.T) {
	onMatrix(t, nil, func(t *testing.T, s *Server, c *client.Client, _ *memcachedtest.Process) {
		ctx := patient(t)
		set(t, c, "a", "x")
		for _, r := range []struct {
			from, to int
			want     error
		}{{1, 1, ErrSame}, {1, 200, ErrBadClass}, {1, 2, ErrNoSpare}} {
			requireRefused(t, s.ReassignSlab(ctx, r.from, r.to), r.want, "slabs reassign", s)
		}
		require.NotErrorIs(t, s.ReassignSlab(ctx, AnyClass, 2), client.ErrArgument)
		requireAlive(t, c, 1)
	})
	onMatrix(t, []string{"-o", "no_slab_reassign"}, func(t *testing.T, s *Server, _ *client.Client, _ *memcachedtest.Process) {
		requireRefused(t, s.ReassignSlab(patient(t), 1, 2), ErrDisabled, "slabs reassign", s)
	})
}

// With memory in several pages one can be moved.
func TestReassignPage(t *testing.T) {
	onMatrix(t, []string{"-o", "slab_automove=0"}, func(t *testing.T, s *Server, c *client.Client, mc *memcachedtest.Process) {
		fill(t, mc, 50_000)
		pages := func() (of1, of2 uint64) {
			slabs, err := s.Slabs(patient(t))
			require.NoError(t, err)
			for _, class := range slabs.Classes {
				switch class.Class {
				case 1:
					of1 = class.TotalPages
				case 2:
					of2 = class.TotalPages
				}
			}
			return of1, of2
		}
		of1, of2 := pages()
		require.Greater(t, of1, uint64(2))
		require.NoError(t, s.ReassignSlab(patient(t), 1, 2))
		eventually(t, "the page is moved", func() bool {
			now1, now2 := pages()
			return now1 == of1-1 && now2 == of2+1
		})
	})
}

func TestFlushAll(t *testing.T) {
	onMatrix(t, nil, func(t *testing.T, s *Server, c *client.Client, _ *memcachedtest.Process) {
		ctx := patient(t)
		set(t, c, "a", "x")
		require.NoError(t, s.FlushAll(ctx, time.Hour))
		_, err := c.Get(ctx, "a")
		require.NoError(t, err)
		// What is stored in the second of the flush is younger than it, and stays.
		eventually(t, "the item is gone", func() bool {
			require.NoError(t, s.FlushAll(ctx, 0))
			_, err := c.Get(ctx, "a")
			return errors.Is(err, client.ErrNotFound)
		})
		set(t, c, "a", "x")
		eventually(t, "the item is gone after a delay", func() bool {
			require.NoError(t, s.FlushAll(ctx, time.Nanosecond)) // which is a second
			_, err := c.Get(ctx, "a")
			return errors.Is(err, client.ErrNotFound)
		})
	})
	onMatrix(t, []string{"-F"}, func(t *testing.T, s *Server, _ *client.Client, _ *memcachedtest.Process) {
		requireRefused(t, s.FlushAll(patient(t), 0), ErrDisabled, "flush_all", s)
	})
}

func TestRefreshCerts(t *testing.T) {
	onMatrix(t, nil, func(t *testing.T, s *Server, c *client.Client, _ *memcachedtest.Process) {
		err := s.RefreshCerts(patient(t))
		if !errors.Is(err, ErrCerts) { // built without TLS
			requireRefused(t, err, client.ErrServer, "refresh_certs", s)
		}
		requireAlive(t, c, 1)
	})
	s, _, _ := scripted(t, "refresh_certs", "OK\r\n")
	require.NoError(t, s.RefreshCerts(patient(t)))
	s, _, _ = scripted(t, "refresh_certs", "Error loading the key: /secret : no such file\r\n")
	err := s.RefreshCerts(patient(t))
	requireRefused(t, err, ErrCerts, "refresh_certs", s)
	require.NotContains(t, err.Error(), "secret")
}

// Nothing that makes no sense is sent.
func TestControlArguments(t *testing.T) {
	onEngines(t, func(t *testing.T, cfg *client.Config) {
		s, _ := dial(t, cfg, "127.0.0.1:1") // if it were sent, this would be ErrUnavailable
		ctx := t.Context()
		ok := LRUTuning{HotPercent: 10, WarmPercent: 10, HotMaxFactor: 1, WarmMaxFactor: 1}
		tune := func(change func(*LRUTuning)) error {
			t := ok
			change(&t)
			return s.TuneLRU(ctx, t)
		}
		require.ErrorIs(t, s.TuneLRU(ctx, ok), client.ErrUnavailable)
		for i, err := range []error{
			s.FlushAll(ctx, -1), s.FlushAll(ctx, 31*24*time.Hour),
			s.SetVerbosity(ctx, -1), s.SetMemLimit(ctx, 0), s.SetMemLimit(ctx, -5),
			s.ReassignSlab(ctx, -2, 1), s.ReassignSlab(ctx, 1, -1), s.ReassignSlab(ctx, 256, 1), s.ReassignSlab(ctx, 1, 256),
			s.SetAutomove(ctx, 3),
			tune(func(t *LRUTuning) { t.HotPercent = -1 }), tune(func(t *LRUTuning) { t.WarmPercent = -1 }),
			tune(func(t *LRUTuning) { t.HotPercent = 71 }), tune(func(t *LRUTuning) { t.WarmPercent = math.MaxInt }),
			tune(func(t *LRUTuning) { t.HotPercent = math.MaxInt }),
			tune(func(t *LRUTuning) { t.HotMaxFactor = 0 }), tune(func(t *LRUTuning) { t.WarmMaxFactor = math.NaN() }),
			tune(func(t *LRUTuning) { t.WarmMaxFactor = math.Inf(1) }),
			s.SetTempTTL(ctx, math.MaxInt64), s.SetTempTTL(ctx, (math.MaxInt32+1)*time.Second),
			s.Crawl(ctx, ByHash), s.Crawl(ctx, ""), s.Crawl(ctx, "1\r\nflush_all"),
			s.SetCrawlerSleep(ctx, -1), s.SetCrawlerSleep(ctx, time.Second+1),
		} {
			require.ErrorIs(t, err, client.ErrArgument, "number %d", i)
			require.True(t, client.SafeToRetry(err))
			var e *client.OpError
			require.ErrorAs(t, err, &e)
			require.Equal(t, s.Addr(), e.Server)
		}
	})
}

// What the servers that tests run on do not answer, or not when they are asked to.
func TestScriptedAnswers(t *testing.T) {
	for answer, want := range map[string]error{
		"BUSY currently processing reassign request": ErrBusy, "NOTFULL dest class has spare memory": ErrNotFull,
		"UNSAFE src class is in an unsafe state": ErrUnsafe, "BUSY": ErrBusy,
	} {
		s, c, _ := scripted(t, "slabs reassign 1 2", answer+"\r\n")
		requireRefused(t, s.ReassignSlab(patient(t), 1, 2), want, "slabs reassign", s)
		requireAlive(t, c, 1)
	}
	s, c, _ := scripted(t, "slabs reassign 1 2", "MEMLIMIT_TOO_SMALL\r\n") // no answer to this
	require.ErrorIs(t, s.ReassignSlab(patient(t), 1, 2), client.ErrDesync)
	require.Equal(t, uint64(1), c.Counters().Desyncs)
	s, _, _ = scripted(t, "lru_crawler crawl all", "NOTSTARTED no items to crawl\r\n")
	requireRefused(t, s.Crawl(patient(t), AllClasses), ErrNothing, "lru_crawler crawl", s)
	s, _, _ = scripted(t, "lru_crawler enable", "ERROR failed to start the secret thread\r\n")
	err := s.SetCrawler(patient(t), true)
	requireRefused(t, err, client.ErrServer, "lru_crawler enable", s)
	require.NotContains(t, err.Error(), "secret")
}
