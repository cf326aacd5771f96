package client_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

// A GetMulti has one deadline, however much comes meanwhile: servers that drip
// one hit after the other do not keep it alive, nor does one that is connected to
// late have a deadline of its own.
func TestGetMultiHasOneDeadline(t *testing.T) {
	const hits = 500 // every 20 ms: ten seconds
	for name, limit := range map[string]func(cfg *client.Config) (context.Context, context.CancelFunc){
		"OpTimeout": func(cfg *client.Config) (context.Context, context.CancelFunc) {
			cfg.OpTimeout = 150 * time.Millisecond
			return context.WithCancel(context.Background())
		},
		"context": func(cfg *client.Config) (context.Context, context.CancelFunc) {
			return context.WithTimeout(context.Background(), 150*time.Millisecond)
		},
	} {
		t.Run(name, func(t *testing.T) {
			onEngines(t, func(t *testing.T, kind client.EngineKind) {
				var servers []string
				keys := keysOf("k%03d", hits)
				item := len("VALUE k000 0 1 1\r\nv\r\n") // with a short CAS
				drip := memcachedtest.Answer().Chunks(item).Gap(20 * time.Millisecond)
				for range 2 {
					srv := memcachedtest.NewServer(t, memcachedtest.ServerOptions{
						Script: memcachedtest.OnCommand("gets", drip),
					})
					servers = append(servers, srv.Addr())
				}
				cfg := client.Config{Engine: kind, OpTimeout: 20 * time.Second}
				filler := dial(t, &cfg, servers...)
				for _, k := range keys {
					require.NoError(t, filler.Set(patient(t), client.Item{Key: k, Value: []byte("v")}))
				}
				ctx, cancel := limit(&cfg)
				defer cancel()
				c := dial(t, &cfg, servers...)
				got, missed, late := 0, 0, 0
				for _, err := range c.GetMulti(ctx, keys) {
					if err == nil {
						got++
						continue
					}
					require.ErrorIs(t, err, client.ErrTimeout)
					missed += len(opError(t, err).Keys)
					late++
				}
				require.Equal(t, 2, late, "one error for each server")
				require.Equal(t, hits, got+missed, fmt.Sprint(got, " were yielded"))
				require.Less(t, got, hits/2, "the call went on after its deadline")
			})
		})
	}
}
