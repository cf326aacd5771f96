package client_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

// nearly compares what is left of a TTL with the whole: the server's clock ticks once a
// second, and the test takes some time as well.
func nearly(t *testing.T, want, got time.Duration) {
	t.Helper()
	require.LessOrEqual(t, got, want)
	require.GreaterOrEqual(t, got, want-15*time.Second)
}

func TestInspect(t *testing.T) {
	onMatrix(t, func(t *testing.T, c *client.Client, _ *memcachedtest.Process) {
		_, err := c.Inspect(patient(t), "k")
		require.ErrorIs(t, err, client.ErrNotFound)
		require.Contains(t, err.Error(), "inspect")
		require.NoError(t, c.Set(patient(t), client.Item{Key: "k", Value: []byte("value"), Flags: 7, TTL: time.Minute}))
		for range 2 { // looking at it is no use of it
			it, err := c.Inspect(patient(t), "k")
			require.NoError(t, err)
			require.Equal(t, "k", it.Key)
			require.Nil(t, it.Value)
			require.EqualValues(t, 7, it.Flags)
			require.NotZero(t, it.CAS)
			require.NotNil(t, it.Info)
			nearly(t, time.Minute, it.Info.TTL)
			require.Equal(t, 5, it.Info.Size)
			require.Less(t, it.Info.Idle, 10*time.Second)
			require.False(t, it.Info.Fetched)
		}
		it, err := c.Inspect(patient(t), "k", client.GetOptions{Bump: true, Touch: -1})
		require.NoError(t, err)
		require.False(t, it.Info.Fetched, "as it was before")
		nearly(t, time.Minute, it.Info.TTL)
		it, err = c.Inspect(patient(t), "k", client.GetOptions{})
		require.NoError(t, err)
		require.True(t, it.Info.Fetched)
		require.Negative(t, it.Info.TTL, "it never expires now")

		// An item that the Inspect makes.
		it, err = c.Inspect(patient(t), "new", client.GetOptions{Vivify: time.Minute + 1})
		require.NoError(t, err)
		require.Equal(t, client.Won, it.State)
		require.Equal(t, client.Info{TTL: time.Minute + time.Second}, *it.Info)
		it, err = c.Inspect(patient(t), "ever", client.GetOptions{Vivify: -1})
		require.NoError(t, err)
		require.Negative(t, it.Info.TTL)

		// It expires at once if its TTL is negative on the wire, which Meta can say.
		r, err := c.Meta(patient(t), metaOf("mg k T-1"))
		require.NoError(t, err)
		require.Equal(t, client.MetaHD, r.Status)
		_, err = c.Inspect(patient(t), "k")
		require.ErrorIs(t, err, client.ErrNotFound)
	})
}

// Info comes with every kind of get, and only if it was asked for.
func TestGetInfo(t *testing.T) {
	onMatrix(t, func(t *testing.T, c *client.Client, _ *memcachedtest.Process) {
		ask := client.GetOptions{Info: true, NoBump: true}
		require.NoError(t, c.Set(patient(t), client.Item{Key: "k", Value: []byte("value"), TTL: time.Hour}))
		check := func(it client.Item) {
			t.Helper()
			require.NotNil(t, it.Info)
			nearly(t, time.Hour, it.Info.TTL)
			require.Equal(t, 5, it.Info.Size)
			require.False(t, it.Info.Fetched)
		}
		it, err := c.Get(patient(t), "k", ask)
		require.NoError(t, err)
		require.Equal(t, "value", string(it.Value))
		check(it)
		value, it, err := c.GetAppend(patient(t), []byte("my "), "k", ask)
		require.NoError(t, err)
		require.Equal(t, "my value", string(value))
		require.Nil(t, it.Value)
		check(it)
		l, err := c.GetLease(patient(t), "k", ask)
		require.NoError(t, err)
		require.Equal(t, "value", string(l.Value))
		check(l.Item)
		require.NoError(t, l.Release())
		it, err = c.Get(patient(t), "k")
		require.NoError(t, err)
		require.Nil(t, it.Info)
		ask.Touch = time.Minute
		it, err = c.Get(patient(t), "k", ask)
		require.NoError(t, err)
		require.True(t, it.Info.Fetched)
		nearly(t, time.Hour, it.Info.TTL)
		it, err = c.Get(patient(t), "k", client.GetOptions{Info: true})
		require.NoError(t, err)
		nearly(t, time.Minute, it.Info.TTL)
		_, err = c.Get(patient(t), "miss", ask)
		require.ErrorIs(t, err, client.ErrNotFound)
	})
}

// The options of one get do not get into each other's way.
func TestGetOptionsTogether(t *testing.T) {
	onMatrix(t, func(t *testing.T, c *client.Client, _ *memcachedtest.Process) {
		all := client.GetOptions{Touch: time.Hour, Vivify: time.Minute, Recache: 2 * time.Minute, Info: true, Hints: client.Hints{P: "pool", L: "/a/b"}}
		it, err := c.Get(patient(t), "k", all)
		require.NoError(t, err)
		require.Equal(t, client.Won, it.State)
		require.Equal(t, time.Minute, it.Info.TTL)
		it, err = c.Inspect(patient(t), "k")
		require.NoError(t, err)
		nearly(t, time.Minute, it.Info.TTL) // Vivify's: Touch is for items that were there

		require.NoError(t, c.Set(patient(t), client.Item{Key: "k", Value: []byte("v"), TTL: time.Minute}))
		it, err = c.Get(patient(t), "k", all)
		require.NoError(t, err)
		require.Equal(t, client.Won, it.State, "it had less than two minutes left, before it was touched")
		nearly(t, time.Minute, it.Info.TTL)
		it, err = c.Inspect(patient(t), "k")
		require.NoError(t, err)
		nearly(t, time.Hour, it.Info.TTL)
	})
}

func TestBadGetOptions(t *testing.T) {
	srv := memcachedtest.NewServer(t, memcachedtest.ServerOptions{})
	c := dial(t, nil, srv.Addr())
	for _, opts := range [][]client.GetOptions{
		{{}, {}}, {{Recache: -1}}, {{Touch: 1 << 62}}, {{NewCAS: 1}}, {{Bump: true, NoBump: true}},
		{{Hints: client.Hints{P: "a b"}}}, {{Hints: client.Hints{L: "a\r\nflush_all"}}}, {{Hints: client.Hints{L: "\x00"}}},
		{{Hints: client.Hints{P: string(make([]byte, client.MaxHintLen+1))}}},
	} {
		_, err := c.Get(patient(t), "k", opts...)
		require.Equal(t, client.NotSent, opError(t, err).Outcome)
		_, _, err = c.GetAppend(patient(t), nil, "k", opts...)
		require.Equal(t, client.NotSent, opError(t, err).Outcome)
		_, err = c.GetLease(patient(t), "k", opts...)
		require.Equal(t, client.NotSent, opError(t, err).Outcome)
		_, err = c.Inspect(patient(t), "k", opts...)
		require.Equal(t, client.NotSent, opError(t, err).Outcome)
	}
	_, err := c.Inspect(patient(t), "k", client.GetOptions{UnlessCAS: 1})
	require.ErrorIs(t, err, client.ErrArgument)
	require.Empty(t, srv.Requests())
}
