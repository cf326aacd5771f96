package admin

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
)

func TestOf(t *testing.T) {
	addrs := []string{"127.0.0.1:1", "unix:/nowhere"}
	c, err := client.New(addrs, &client.Config{Engine: client.Poll})
	require.NoError(t, err)
	defer c.Close()
	all, err := All(c)
	require.NoError(t, err)
	require.Len(t, all, 2)
	for i, addr := range addrs {
		s, err := Of(c, addr)
		require.NoError(t, err)
		require.Equal(t, addr, s.Addr())
		require.Equal(t, all[i], s)
	}
	_, err = Of(c, "secret:2")
	require.ErrorIs(t, err, client.ErrArgument)
	require.NotContains(t, err.Error(), "secret")
	for _, none := range []*client.Client{nil, {}} {
		_, err = Of(none, addrs[0])
		require.ErrorIs(t, err, client.ErrNilClient)
	}
}

// Each call ends as a client's does where there is no server or no client any more.
func TestUnreachable(t *testing.T) {
	onEngines(t, func(t *testing.T, cfg *client.Config) {
		s, c := dial(t, cfg, "127.0.0.1:1")
		calls := func(want error) {
			t.Helper()
			_, err := s.General(t.Context())
			requireUnsent(t, err, want)
			requireUnsent(t, s.SetVerbosity(t.Context(), 0), want)
			_, err = s.Debug(t.Context(), "key")
			requireUnsent(t, err, want)
			require.NotContains(t, err.Error(), "key")
			for _, err := range s.Keys(t.Context(), AllClasses) {
				requireUnsent(t, err, want)
			}
			for _, err := range s.Watch(t.Context()) {
				requireUnsent(t, err, want)
			}
		}
		calls(client.ErrUnavailable)
		require.NoError(t, c.Close())
		calls(client.ErrClosed)
	})
}
