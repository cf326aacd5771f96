package client_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

// Options of a SetMulti are for each item, or for none.
func TestSetMultiOptions(t *testing.T) {
	items := itemsOf(keysOf("options-%d", 300))
	for _, version := range []string{"1.6.18", "1.6.45"} {
		t.Run(version, func(t *testing.T) {
			onScript(t, memcachedtest.ServerOptions{Version: version}, client.Config{}, func(t *testing.T, c *client.Client, srv *memcachedtest.Server) {
				var cas uint64
				var size int
				for i, opts := range [][]client.StoreOptions{
					{{IfCAS: 5}}, {{StoredCAS: &cas}}, {{StoredSize: &size}}, {{Create: true}}, {{StaleIfOlder: true}}, {{Hints: client.Hints{P: " "}}}, {{}, {}},
				} {
					err := c.SetMulti(patient(t), items, opts...)
					require.ErrorIs(t, err, client.ErrArgument, "%d", i)
					require.Equal(t, "set multi", opError(t, err).Op, "the call's error, and no item's")
					require.True(t, client.SafeToRetry(err))
				}
				require.Zero(t, srv.RequestCount())
				err := c.SetMulti(patient(t), items, client.StoreOptions{NewCAS: 99, Hints: client.Hints{L: "log"}})
				if version == "1.6.18" {
					require.Equal(t, len(items), failures(batchError(t, err)))
					require.NoError(t, client.Except(err, client.ErrUnsupported))
					require.True(t, client.SafeToRetry(err))
					require.Equal(t, 1, srv.RequestCount(), "only version")
					require.NoError(t, c.SetMulti(patient(t), items, client.StoreOptions{Hints: client.Hints{P: "p"}}))
					return
				}
				require.NoError(t, err)
				for _, r := range srv.Requests() {
					if hint, _ := r.Flag('L'); r.Command == "ms" {
						require.Equal(t, "log", hint, r.Line)
					}
				}
				n := 0
				for it, err := range c.GetMulti(patient(t), keysOf("options-%d", 300)) {
					require.NoError(t, err)
					require.EqualValues(t, 99, it.CAS)
					n++
				}
				require.Equal(t, len(items), n)
			})
		})
	}
}

// What a DropValue leaves may find no room, which is said in a quiet run as well.
func TestDeleteMultiDropsValues(t *testing.T) {
	onScript(t, memcachedtest.ServerOptions{Version: "1.6.45"}, client.Config{}, func(t *testing.T, c *client.Client, srv *memcachedtest.Server) {
		keys := keysOf("drop-%d", 100)
		require.NoError(t, c.SetMulti(patient(t), itemsOf(keys[:50])))
		srv.SetScript(func(r memcachedtest.Request) memcachedtest.Action {
			if o, _ := r.Flag('O'); r.Command == "md" && r.Key == keys[20] {
				return memcachedtest.Answer().Unexecuted().Instead([]byte(fmt.Sprintf("NS O%s\r\n", o)))
			}
			return memcachedtest.Answer()
		})
		err := batchError(t, c.DeleteMulti(patient(t), keys, client.DeleteOptions{DropValue: true, TTL: time.Minute, NewCAS: 98}))
		for i, err := range err.Errs {
			switch {
			case i == 20:
				require.ErrorIs(t, err, client.ErrNotStored)
			case i < 50:
				require.NoError(t, err, "%d", i)
			default:
				require.ErrorIs(t, err, client.ErrNotFound, "%d", i)
			}
		}
		for it, err := range c.GetMulti(patient(t), keys) {
			require.NoError(t, err)
			if it.Key != keys[20] {
				require.Empty(t, it.Value)
				require.EqualValues(t, 98, it.CAS)
			}
		}
		require.Zero(t, c.Counters().Losses)
	})
}
