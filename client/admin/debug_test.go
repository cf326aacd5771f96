package admin

import (
	"bufio"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

func TestDebug(t *testing.T) {
	onMatrix(t, nil, func(t *testing.T, s *Server, c *client.Client, mc *memcachedtest.Process) {
		ctx := patient(t)
		set(t, c, "a", "value")
		m, err := s.Debug(ctx, "a")
		require.NoError(t, err)
		require.Equal(t, 1, m.Class)
		require.NotZero(t, m.CAS)
		require.Greater(t, m.Size, uint64(len("value")))
		require.Equal(t, [...]bool{false, false}, [...]bool{m.Expires, m.Fetched})
		require.Zero(t, m.TTL)
		require.Less(t, m.Idle, time.Hour)
		require.Equal(t, "-1", m.Fields["exp"])

		it, err := c.Get(ctx, "a")
		require.NoError(t, err)
		require.NoError(t, c.Touch(ctx, "a", time.Hour))
		m, err = s.Debug(ctx, "a")
		require.NoError(t, err)
		require.True(t, m.Fetched)
		require.True(t, m.Expires)
		require.InDelta(t, time.Hour, m.TTL, float64(time.Minute))
		require.Equal(t, it.CAS, m.CAS)

		// However a key is asked for, the item under it is found as it was stored.
		wild, coded := "\x00 \r\n%", "stored as base64"
		coded = strings.ReplaceAll(coded, " ", "-")
		send(t, mc, func(w *bufio.Writer) {
			fmt.Fprintf(w, "ms %s 1 b\r\nx\r\nms %s 1 b\r\nx\r\n", encode64(wild), encode64(coded))
		})
		for _, key := range []string{wild, coded, strings.Repeat("k", client.MaxKeyLen)} {
			if key[0] == 'k' {
				set(t, c, key, "x")
			}
			m, err = s.Debug(ctx, key)
			require.NoError(t, err, "%q", key)
			require.NotZero(t, m.CAS)
		}
		for _, key := range []string{"b", " ", strings.Repeat("\x00", client.MaxBinaryKeyLen)} {
			_, err = s.Debug(ctx, key)
			requireRefused(t, err, client.ErrNotFound, "me", s)
		}
		for _, key := range []string{"", strings.Repeat("k", client.MaxKeyLen+1), strings.Repeat("\x00", client.MaxBinaryKeyLen+1)} {
			_, err = s.Debug(ctx, key)
			requireUnsent(t, err, client.ErrKey)
		}
		requireAlive(t, c, 1)
	})
}

// An answer about another key is never taken for this one's.
func TestDebugOther(t *testing.T) {
	for _, reply := range []string{"ME keys exp=-1\r\n", "ME ke exp=-1\r\n", "ME KEY exp=-1\r\n", "ME\r\n", "OK\r\n", "HD\r\n", "ENX\r\n"} {
		s, c, _ := scripted(t, "me key", reply)
		_, err := s.Debug(patient(t), "key")
		require.ErrorIs(t, err, client.ErrDesync, "%q", reply)
		require.NotContains(t, err.Error(), "key")
		require.Equal(t, uint64(1), c.Counters().Desyncs)
	}
	for reply, want := range map[string]Meta{
		"ME key exp=5 la=7 cas=9 fetch=yes cls=3 size=63 new=x\r\n": {Expires: true, TTL: 5 * time.Second, Idle: 7 * time.Second,
			CAS: 9, Fetched: true, Class: 3, Size: 63,
			Fields: map[string]string{"exp": "5", "la": "7", "cas": "9", "fetch": "yes", "cls": "3", "size": "63", "new": "x"}},
		"ME key exp=-3600\r\n":                  {Expires: true, TTL: time.Hour, Fields: map[string]string{"exp": "-3600"}},
		"ME a2V5 exp=x la=x cas=-1 cls=900\r\n": {Fields: map[string]string{"exp": "x", "la": "x", "cas": "-1", "cls": "900"}},
		"ME key\r\n":                            {Fields: map[string]string{}},
	} {
		s, _, _ := scripted(t, "me key", reply)
		m, err := s.Debug(patient(t), "key")
		require.NoError(t, err)
		require.Equal(t, want, m)
	}
	s, _, _ := scripted(t, "me AAEC b b", "ME AAEC cas=5\r\n") // newer servers need both
	m, err := s.Debug(patient(t), "\x00\x01\x02")
	require.NoError(t, err)
	require.Equal(t, uint64(5), m.CAS)
}
