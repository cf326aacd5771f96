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
		flat := cacheOf(t, c, typed.Bytes(), &typed.Config{Compressor: typed.Flate()})
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
			{"set bytes, compressed by flate", 0, 0, func() error { return flat.Set(ctx, typed.Item[[]byte]{Key: "f", Value: unknown}) }},
			{"get bytes, compressed by flate: the value, which grows", 12, 360 << 10, get(flat, "f")},
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
			require.LessOrEqual(t, allocated(50, run), p.bytes+256, p.what)
		}
	})
}

// allocated is how many bytes f takes each time.
func allocated(runs int, f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range runs {
		f()
	}
	runtime.ReadMemStats(&after)
	return (after.TotalAlloc - before.TotalAlloc) / uint64(runs)
}

// A bomb takes no more memory than the limit, about, and what a gzip file says of its
// size is believed no further than it can be true.
func TestBombsTakeNoMemory(t *testing.T) {
	if raceEnabled {
		t.Log("the race detector makes sync.Pool forget: memory is measured without it")
		return
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const limit = 1 << 20
	for _, z := range []typed.Compressor{typed.Gzip(), typed.Flate()} {
		bomb, err := z.Append(nil, make([]byte, 64<<20))
		require.NoError(t, err)
		small, err := z.Append(nil, []byte("small"))
		require.NoError(t, err)
		for _, packed := range [][]byte{bomb, small} {
			most := uint64(min(3*limit, 2*1032*len(packed)))
			if z.ID() == typed.Gzip().ID() {
				copy(packed[len(packed)-4:], "\xff\xff\xff\xff")
			}
			decode := func() { _, err = z.Decode(nil, packed, limit) }
			decode() // what it keeps is there from now on
			require.LessOrEqual(t, allocated(10, decode), most)
			if len(packed) == len(bomb) {
				require.ErrorIs(t, err, typed.ErrDecodedSize)
			}
		}
	}
}

func get[T any](cache *typed.Cache[T], key string) func() error {
	return func() error { _, err := cache.Get(context.Background(), key); return err }
}
