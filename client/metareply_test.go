package client_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

// A key may have what Unicode counts as space and memcached does not. What stands
// behind it in the key is no flag of the reply.
func TestMetaKeyWithUnicodeSpace(t *testing.T) {
	onMatrix(t, func(t *testing.T, c *client.Client, _ *memcachedtest.Process) {
		for _, space := range []string{"\u00a0", "\u3000", "\u0085", "\u2028"} {
			key := "a" + space + "W" + space + "f7"
			require.NoError(t, c.Set(patient(t), client.Item{Key: key, Value: []byte("v")}))
			r, err := c.Meta(patient(t), client.MetaRequest{Command: "mg", Key: key, Flags: []client.MetaFlag{{Letter: 'k'}, {Letter: 'f'}}})
			require.NoError(t, err)
			require.Equal(t, []client.MetaFlag{{Letter: 'k', Token: key}, {Letter: 'f', Token: "0"}}, r.Flags)
			r, err = c.Meta(patient(t), client.MetaRequest{Command: "mg", Key: key})
			require.NoError(t, err)
			require.Empty(t, r.Flags)
			r, err = c.Meta(patient(t), client.MetaRequest{Command: "me", Key: key})
			require.NoError(t, err)
			require.Contains(t, r.Debug, "exp")
			for name, value := range r.Debug {
				require.NotEmpty(t, value, "%q is no field", name)
			}
		}
	})
}
