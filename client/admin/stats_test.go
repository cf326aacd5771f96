package admin

import (
	"bufio"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

// requireDecoded wants every field of a struct of statistics to be there and to be
// of its type, but for those that this server does not have.
func requireDecoded(t *testing.T, raw map[string]string, v any, missing ...string) {
	t.Helper()
	p := reflect.New(reflect.TypeOf(v))
	require.Empty(t, decode(raw, p.Interface()), "statistics that are no %T's", v)
	for i := range p.Elem().NumField() {
		tag, ok := p.Elem().Type().Field(i).Tag.Lookup("stat")
		name, _, _ := strings.Cut(tag, ",")
		if _, sent := raw[name]; ok && !sent {
			require.Contains(t, missing, name, "the server has no such statistic")
		}
	}
}

func TestGeneral(t *testing.T) {
	onMatrix(t, nil, func(t *testing.T, s *Server, c *client.Client, mc *memcachedtest.Process) {
		set(t, c, "a", "value")
		_, err := c.Get(t.Context(), "a")
		require.NoError(t, err)
		_, err = c.Get(t.Context(), "b")
		require.ErrorIs(t, err, client.ErrNotFound)

		g, err := s.General(patient(t))
		require.NoError(t, err)
		requireDecoded(t, g.Raw, g)
		require.Equal(t, mc.PID(), g.PID)
		require.Equal(t, mc.Version(), g.Version)
		require.WithinDuration(t, time.Now(), g.Time, time.Hour)
		require.Equal(t, uint64(64<<20), g.LimitMaxBytes)
		require.Equal(t, [...]uint64{1, 1, 1, 1, 1}, [...]uint64{g.CurrItems, g.TotalItems, g.CmdSet, g.GetHits, g.GetMisses})
		require.Equal(t, 1, g.Threads)
		require.True(t, g.AcceptingConns)
		require.Equal(t, g.Raw["total_items"], "1")

		v, err := s.Version(patient(t))
		require.NoError(t, err)
		require.Equal(t, mc.Version(), v)

		require.NoError(t, s.Reset(patient(t)))
		g, err = s.General(patient(t))
		require.NoError(t, err)
		require.Zero(t, g.CmdSet)
		require.Equal(t, uint64(1), g.CurrItems)
	})
}

func TestSettings(t *testing.T) {
	args := []string{"-I", "2m", "-c", "77", "-o", "no_lru_crawler,idle_timeout=90"}
	onMatrix(t, args, func(t *testing.T, s *Server, _ *client.Client, mc *memcachedtest.Process) {
		set, err := s.Settings(patient(t))
		require.NoError(t, err)
		missing := []string{"client_flags_size"}
		if set.Raw["ssl_enabled"] == "" { // not every build has TLS
			missing = append(missing, "ssl_enabled", "ssl_chain_cert", "ssl_key", "ssl_ca_cert", "ssl_verify_mode", "ssl_min_version")
		}
		requireDecoded(t, set.Raw, set, missing...)
		require.Equal(t, uint64(2<<20), set.ItemSizeMax)
		require.Equal(t, uint64(64<<20), set.MaxBytes)
		require.Equal(t, 77, set.MaxConns)
		require.Equal(t, 90*time.Second, set.IdleTimeout)
		require.False(t, set.LRUCrawler)
		require.True(t, set.CASEnabled)
		require.False(t, set.SSLEnabled)
		require.False(t, set.AuthASCII)
		require.Empty(t, set.MemoryFile)
		require.Equal(t, 1.25, set.GrowthFactor)
		if network, addr := mc.DialAddr(); network == "unix" {
			require.Equal(t, addr, set.DomainSocket)
		} else {
			require.Empty(t, set.DomainSocket)
			require.Equal(t, -1, set.TCPPort) // as it was asked for: any that is free
			require.Equal(t, "127.0.0.1", set.Interface)
		}
	})
}

func TestClasses(t *testing.T) {
	onMatrix(t, nil, func(t *testing.T, s *Server, c *client.Client, _ *memcachedtest.Process) {
		items, err := s.Items(patient(t))
		require.NoError(t, err)
		require.Empty(t, items.Classes)
		require.NotNil(t, items.Raw)

		set(t, c, "small", "x")
		set(t, c, "smaller", "")
		set(t, c, "large", strings.Repeat("x", 5000))
		items, err = s.Items(patient(t))
		require.NoError(t, err)
		require.Len(t, items.Classes, 2)
		for _, class := range items.Classes {
			requireDecoded(t, class.Raw, class, "number_temp") // there is one with a temporary TTL only
		}
		require.Less(t, items.Classes[0].Class, items.Classes[1].Class)
		require.Equal(t, uint64(2), items.Classes[0].Number)
		require.Greater(t, items.Classes[1].MemRequested, uint64(5000))

		slabs, err := s.Slabs(patient(t))
		require.NoError(t, err)
		requireDecoded(t, slabs.Raw, slabs)
		require.NotZero(t, slabs.TotalMalloced)
		require.Equal(t, len(slabs.Classes), slabs.ActiveSlabs)
		used := map[int]uint64{}
		for _, class := range slabs.Classes {
			requireDecoded(t, class.Raw, class)
			used[class.Class] = class.UsedChunks
			require.Equal(t, class.TotalChunks, class.UsedChunks+class.FreeChunks)
		}
		require.Equal(t, uint64(2), used[items.Classes[0].Class])
		require.Equal(t, uint64(1), used[items.Classes[1].Class])
	})
}

func TestSizes(t *testing.T) {
	onMatrix(t, []string{"-o", "track_sizes"}, func(t *testing.T, s *Server, c *client.Client, _ *memcachedtest.Process) {
		set(t, c, "a", "x")
		set(t, c, "b", "x")
		set(t, c, "c", strings.Repeat("x", 100))
		sizes, err := s.Sizes(patient(t))
		require.NoError(t, err)
		require.True(t, sizes.Enabled)
		require.Len(t, sizes.Counts, 2)
		require.Equal(t, uint64(2), sizes.Counts[0].Items)
		require.Equal(t, uint64(1), sizes.Counts[1].Items)
		require.Less(t, sizes.Counts[0].Bytes, sizes.Counts[1].Bytes)
	})
	onMatrix(t, nil, func(t *testing.T, s *Server, _ *client.Client, _ *memcachedtest.Process) {
		sizes, err := s.Sizes(patient(t))
		require.NoError(t, err)
		require.False(t, sizes.Enabled)
		require.Empty(t, sizes.Counts)
	})
}

func TestConns(t *testing.T) {
	onMatrix(t, nil, func(t *testing.T, s *Server, _ *client.Client, mc *memcachedtest.Process) {
		conns, err := s.Conns(patient(t))
		require.NoError(t, err)
		listening, ours := 0, 0
		network, addr := mc.DialAddr()
		for _, c := range conns.Conns {
			require.Positive(t, c.FD)
			require.NotEmpty(t, c.Raw)
			switch c.State {
			case "conn_listening":
				listening++
				require.Equal(t, network+":"+addr, c.Addr)
				require.Empty(t, c.ListenAddr)
			case "conn_parse_cmd":
				ours++
			}
		}
		require.Equal(t, 1, listening)
		require.Equal(t, 1, ours)
	})
}

func TestDetail(t *testing.T) {
	onMatrix(t, nil, func(t *testing.T, s *Server, _ *client.Client, mc *memcachedtest.Process) {
		use := func(n int) { // meta commands are not counted
			send(t, mc, func(w *bufio.Writer) {
				for range n {
					fmt.Fprint(w, "set user:1 0 0 1\r\nx\r\nget user:1\r\nget user:2\r\ndelete user:1\r\nget :1\r\n")
				}
			})
		}
		require.NoError(t, s.SetDetail(patient(t), true))
		use(3)
		require.NoError(t, s.SetDetail(patient(t), false))
		use(1)
		prefixes, err := s.Detail(patient(t))
		require.NoError(t, err)
		require.Len(t, prefixes, 2)
		require.EqualValues(t, 3, prefixes[""].Gets, "of a key that begins with the delimiter")
		p := prefixes["user"]
		require.NotEmpty(t, p.Raw)
		p.Raw = ""
		require.Equal(t, Prefix{Gets: 6, Hits: 3, Sets: 3, Deletes: 3}, p)
	})
}

func TestRaw(t *testing.T) {
	onMatrix(t, nil, func(t *testing.T, s *Server, c *client.Client, _ *memcachedtest.Process) {
		require.NoError(t, s.SetLRUSegmented(patient(t), false)) // or the item is not in the LRU that is dumped
		set(t, c, "a", "value")
		raw, err := s.Raw(patient(t), "cachedump", "1", "10")
		require.NoError(t, err)
		require.Equal(t, map[string]string{"a": "[5 b; 0 s]"}, raw)
		for _, group := range [][]string{{"nonsense"}, {"cachedump", "x", "y"}, {"cachedump", "999", "1"}, {"detail"}} {
			_, err = s.Raw(patient(t), group...)
			requireRefused(t, err, client.ErrServer, "stats", s)
		}
		for _, group := range [][]string{{"a b"}, {"items\r\nflush_all"}, {""}, {"sizes_enable"}, {"sizes_disable"}} {
			_, err = s.Raw(patient(t), group...)
			requireUnsent(t, err, client.ErrArgument)
			require.NotContains(t, err.Error(), "flush_all")
		}
		requireAlive(t, c, 1)
	})
}

// requireAlive wants the client's connections to have outlived all that came before.
func requireAlive(t *testing.T, c *client.Client, dials uint64) {
	t.Helper()
	require.NoError(t, c.Ping(t.Context()))
	n := c.Counters()
	require.Equal(t, [...]uint64{dials, 0, 0}, [...]uint64{n.Dials, n.Losses, n.Desyncs})
}

// What the server sends in another form, or no more, is a zero and still in Raw.
func TestStatsOfOthers(t *testing.T) {
	s, _, _ := scripted(t, "stats", "STAT pid many\r\nSTAT uptime 1.5\r\nSTAT rusage_user -1\r\nSTAT time x\r\nSTAT new 1 2\r\n"+
		"STAT accepting_conns maybe\r\nSTAT version NULL\r\nSTAT get_hits 18446744073709551615\r\nSTAT bytes -1\r\n"+
		"STAT time_in_listen_disabled_us 99999999999999999999\r\nEND\r\n")
	g, err := s.General(patient(t))
	require.NoError(t, err)
	want := General{Uptime: 1500 * time.Millisecond, UserCPU: -time.Second, GetHits: 1<<64 - 1, Raw: g.Raw}
	require.Equal(t, want, g)
	require.Len(t, g.Raw, 10)
	require.Equal(t, "1 2", g.Raw["new"])
	require.Equal(t, "many", g.Raw["pid"])

	s, _, _ = scripted(t, "stats items", "STAT items:7:number 3\r\nSTAT items:x:number 4\r\nSTAT odd 5\r\nSTAT items:2:age 9\r\nEND\r\n")
	items, err := s.Items(patient(t))
	require.NoError(t, err)
	require.Len(t, items.Raw, 4)
	require.Equal(t, []ItemClass{
		{Class: 2, Age: 9 * time.Second, Raw: map[string]string{"age": "9"}},
		{Class: 7, Number: 3, Raw: map[string]string{"number": "3"}},
	}, items.Classes)
}
