package client_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

// Calls that take several requests give up at some time, if others change the item in
// between whenever they look, with what they have found last.
func TestRoundsEnd(t *testing.T) {
	onScript(t, memcachedtest.ServerOptions{}, client.Config{ConnsPerServer: 1}, func(t *testing.T, c *client.Client, srv *memcachedtest.Server) {
		srv.SetScript(func(r memcachedtest.Request) memcachedtest.Action {
			_, wantsValue := r.Flag('v')
			switch {
			case r.Command == "ms":
				return memcachedtest.Answer().Unexecuted().Instead([]byte("NS O" + opaqueOf(r) + "\r\n"))
			case r.Command == "mg" && wantsValue:
				return memcachedtest.Answer().Unexecuted().Instead([]byte("EN\r\n"))
			}
			return memcachedtest.Answer()
		})
		err := c.Append(patient(t), client.Item{Key: "k", Value: []byte("v")}, client.StoreOptions{Create: true})
		require.ErrorIs(t, err, client.ErrNotStored)
		_, err = c.Get(patient(t), "k", client.GetOptions{UnlessCAS: 1 << 40, Vivify: time.Minute})
		require.ErrorIs(t, err, client.ErrNotFound)
		require.EqualValues(t, 1, c.Counters().Dials)
	})
}

func opaqueOf(r memcachedtest.Request) string {
	o, _ := r.Flag('O')
	return o
}
