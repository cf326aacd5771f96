package typed_test

import (
	"context"
	"encoding/json"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/typed"
)

// few is a type of which there is much JSON and little in memory: fields that the
// program does not know are passed over.
type few struct {
	ID int `json:"id"`
}

// A typed call allocates what its value needs, and what the codec does.
func TestAllocs(t *testing.T) {
	if raceEnabled {
		t.Log("the race detector makes sync.Pool forget: allocations are counted without it")
		return
	}
	// What is pooled stays where it is found again.
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	onEnginesWith(t, client.Config{}, func(t *testing.T, c *client.Client) {
		ctx := context.Background()
		gz := typed.Config{Compressor: typed.Gzip()}
		text := strings.Repeat("text ", 20<<10)
		raw := typed.Of(c, typed.Bytes())
		packed, texts := cacheOf(t, c, typed.Bytes(), &gz), cacheOf(t, c, typed.String(), &gz)
		small, users := typed.Of(c, typed.JSON[few]()), typed.Of(c, typed.JSON[*few]())
		unknown := []byte(`{"id":7,"unknown":"` + text + `"}`)
		require.NoError(t, raw.Set(ctx, typed.Item[[]byte]{Key: "unknown", Value: unknown}))
		require.NoError(t, packed.Set(ctx, typed.Item[[]byte]{Key: "packed", Value: unknown}))
		seven := &few{7}
		// What encoding/json allocates by itself, for a value in memory.
		own := testing.AllocsPerRun(200, func() { _ = json.Unmarshal(unknown, new(few)) })
		zipped := cacheOf(t, c, typed.JSON[few](), &gz)
		for _, p := range []struct {
			what  string
			most  float64 // allocations
			bytes uint64  // and how much, about
			f     func() error
		}{
			{"set bytes", 0, 0, func() error { return raw.Set(ctx, typed.Item[[]byte]{Key: "b", Value: unknown}) }},
			{"get bytes: the value", 1, 112 << 10, get(raw, "b")},
			{"set bytes, compressed", 0, 0, func() error { return packed.Set(ctx, typed.Item[[]byte]{Key: "z", Value: unknown}) }},
			{"get bytes, compressed: the value", 1, 112 << 10, get(packed, "z")},
			{"set string, compressed", 0, 0, func() error { return texts.Set(ctx, typed.Item[string]{Key: "s", Value: text}) }},
			{"get string, compressed: the value", 1, 112 << 10, get(texts, "s")},
			{"set JSON: a copy of the value", 1, 64, func() error { return small.Set(ctx, typed.Item[few]{Key: "j", Value: *seven}) }},
			{"set JSON of a pointer: a copy of it", 1, 64, func() error { return users.Set(ctx, typed.Item[*few]{Key: "j", Value: seven}) }},
			{"get JSON: what json does", own, 512, get(small, "j")},
			{"get much JSON with little in it", own, 512, get(small, "unknown")},
			{"get much JSON, compressed", own, 512, get(zipped, "packed")},
		} {
			var err error
			run := func() {
				if e := p.f(); e != nil {
					err = e
				}
			}
			n := testing.AllocsPerRun(200, run)
			require.NoError(t, err, p.what)
			require.LessOrEqual(t, n, p.most, p.what)

			const runs = 50
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for range runs {
				run()
			}
			runtime.ReadMemStats(&after)
			require.LessOrEqual(t, (after.TotalAlloc-before.TotalAlloc)/runs, p.bytes+256, p.what)
		}
	})
}

func get[T any](cache *typed.Cache[T], key string) func() error {
	return func() error { _, err := cache.Get(context.Background(), key); return err }
}
