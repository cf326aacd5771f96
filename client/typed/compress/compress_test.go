package compress_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
	"github.com/memring/memring/client/typed"
	"github.com/memring/memring/client/typed/compress"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var compressors = map[string]typed.Compressor{"zstd": compress.Zstd(), "s2": compress.S2()}

// onEngines runs f on both engines, each with a memcached of its own.
func onEngines(t *testing.T, f func(t *testing.T, c *client.Client)) {
	t.Helper()
	for name, kind := range map[string]client.EngineKind{"uring": client.URing, "poll": client.Poll} {
		t.Run(name, func(t *testing.T) {
			mc := memcachedtest.Start(t, memcachedtest.Options{Network: "unix", ItemLimitBytes: 8 << 20})
			c, err := client.New([]string{mc.Addr()}, &client.Config{Engine: kind, OpTimeout: 20 * time.Second, PoisonLeases: true})
			if err != nil && kind == client.URing {
				t.Skipf("there is no io_uring here, so this half cannot be tested: %v", err)
			}
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, c.Close()) })
			f(t, c)
		})
	}
}

// values are of all kinds of compressibility, and of sizes around those of zstd's
// blocks and windows.
func values() [][]byte {
	noise := make([]byte, 300<<10)
	for i := range noise {
		noise[i] = byte(rand.Uint32())
	}
	text := bytes.Repeat([]byte(`{"name":"Ada","tags":["a","b"]},`), 100<<10)
	for i := 0; i < len(text); i += 1000 {
		text[i] = byte(i / 1000)
	}
	all := [][]byte{{}, noise, text[:128<<10], text[:128<<10+1], make([]byte, 1<<20), text}
	for _, n := range []int{1, 10, 1000, 1024, 1025, 10000} {
		all = append(all, text[:n], noise[:n])
	}
	return all
}

func TestRoundTrips(t *testing.T) {
	all := values()
	onEngines(t, func(t *testing.T, c *client.Client) {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		for name, z := range compressors {
			cache, err := typed.New(c, typed.Bytes(), &typed.Config{Compressor: z, CompressFromBytes: -1})
			require.NoError(t, err)
			for i, v := range all {
				key := fmt.Sprintf("%s:%d", name, i)
				require.NoError(t, cache.Set(ctx, typed.Item[[]byte]{Key: key, Value: v, Flags: 1}))
				it, err := cache.Get(ctx, key)
				require.NoError(t, err)
				require.True(t, bytes.Equal(v, it.Value), "%s of %d bytes", name, len(v))
				stored, err := c.Get(ctx, key)
				require.NoError(t, err)
				if len(stored.Value) < len(v) {
					require.Equal(t, uint32(z.ID())<<27|1, stored.Flags)
				} else {
					require.EqualValues(t, 1, stored.Flags)
				}
			}
			short, err := c.Get(ctx, name+":5")
			require.NoError(t, err)
			require.Less(t, len(short.Value), len(all[5])/10, "that compresses well")
		}
	})
}

// What a compressor has appended it appends again, up to the limit and not beyond,
// behind what is there.
func TestLimit(t *testing.T) {
	for name, z := range compressors {
		for _, v := range values() {
			packed, err := z.Append([]byte("before"), v)
			require.NoError(t, err)
			require.Equal(t, "before", string(packed[:6]))
			for _, room := range []int{0, len(v) + 100} {
				dst := append(make([]byte, 0, 4+room), "here"...)
				back, err := z.Decode(dst, packed[6:], len(v))
				require.NoError(t, err, "%s of %d bytes", name, len(v))
				require.True(t, bytes.Equal(append([]byte("here"), v...), back))
				if len(v) > 0 {
					_, err = z.Decode(dst, packed[6:], len(v)-1)
					require.ErrorIs(t, err, typed.ErrDecodedSize)
				}
			}
		}
	}
}

// The program zstd writes frames without a size, and several of them.
func TestZstdOfOthers(t *testing.T) {
	stream := func(v []byte, o ...zstd.EOption) []byte {
		var b bytes.Buffer
		w, err := zstd.NewWriter(&b, o...)
		require.NoError(t, err)
		for len(v) > 0 { // piece by piece, or it would know the size
			n, err := w.Write(v[:min(len(v), 1000)])
			require.NoError(t, err)
			v = v[n:]
		}
		require.NoError(t, w.Close())
		return b.Bytes()
	}
	skippable := []byte("\x50\x2a\x4d\x18\x03\x00\x00\x00abc")
	z := compressors["zstd"]
	for _, v := range values() {
		for _, level := range []zstd.EncoderLevel{zstd.SpeedFastest, zstd.SpeedBestCompression} {
			one := stream(v, zstd.WithEncoderLevel(level), zstd.WithEncoderConcurrency(1), zstd.WithZeroFrames(true))
			for what, packed := range map[string][]byte{"one": one, "skipped": append(bytes.Clone(skippable), one...)} {
				back, err := z.Decode(nil, packed, len(v))
				require.NoError(t, err, "%s %d", what, len(v))
				require.True(t, bytes.Equal(v, back))
				if len(v) > 0 {
					_, err = z.Decode(nil, packed, len(v)-1)
					require.ErrorIs(t, err, typed.ErrDecodedSize, "%s %d", what, len(v))
				}
			}
			sized, err := z.Append(nil, v)
			require.NoError(t, err)
			for _, two := range [][]byte{append(bytes.Clone(one), one...), append(bytes.Clone(sized), sized...)} {
				back, err := z.Decode(nil, two, 2*len(v))
				require.NoError(t, err)
				require.True(t, bytes.Equal(append(bytes.Clone(v), v...), back))
				if len(v) > 0 {
					_, err = z.Decode(nil, two, 2*len(v)-1)
					require.ErrorIs(t, err, typed.ErrDecodedSize)
				}
			}
		}
	}
}

// A bomb costs an error and not more memory than the limit, about.
func TestBombs(t *testing.T) {
	if raceEnabled {
		t.Log("the race detector makes sync.Pool forget: memory is measured without it")
		return
	}
	const limit = 1 << 20
	zeros := make([]byte, 64<<20)
	for name, z := range compressors {
		packed, err := z.Append(nil, zeros)
		require.NoError(t, err)
		bombs := map[string][]byte{"sized": packed}
		if name == "zstd" {
			var b bytes.Buffer
			w, err := zstd.NewWriter(&b, zstd.WithEncoderConcurrency(1))
			require.NoError(t, err)
			for range 64 {
				_, err = w.Write(zeros[:1<<20])
				require.NoError(t, err)
			}
			require.NoError(t, w.Close())
			bombs["without size"] = b.Bytes()
			// A frame that claims 2^40 bytes in a single segment, and is over.
			bombs["lie"] = []byte("\x28\xb5\x2f\xfd\xe0\x00\x00\x00\x00\x00\x01\x00\x00\x01\x00\x00")
		}
		for what, bomb := range bombs {
			taken, err := allocated(func() error { _, err := z.Decode(nil, bomb, limit); return err })
			require.ErrorIs(t, err, typed.ErrDecodedSize, "%s %s", name, what)
			// It grows by doubling: twice the limit in all.
			require.Less(t, taken, uint64(3*limit), "%s %s", name, what)
		}
	}
	// A frame whose claim is within the limit, but more than could be in it.
	small := []byte("\x28\xb5\x2f\xfd\xa0\x00\x00\x0f\x00\x01\x00\x00")
	taken, err := allocated(func() error { _, err := compressors["zstd"].Decode(nil, small, limit); return err })
	require.Error(t, err)
	require.NotErrorIs(t, err, typed.ErrDecodedSize)
	require.Less(t, taken, uint64(limit))
}

// allocated is how many bytes f takes, when what it keeps is there.
func allocated(f func() error) (uint64, error) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	_ = f()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc, err
}

func TestCorrupt(t *testing.T) {
	text := strings.Repeat("compressible ", 1000)
	for name, z := range compressors {
		packed, err := z.Append(nil, []byte(text))
		require.NoError(t, err)
		cache, err := typed.New(nil, typed.String(), &typed.Config{Readers: []typed.Compressor{z}})
		require.NoError(t, err)
		flags := uint32(z.ID()) << 27
		it, err := cache.Decode(client.Item{Value: packed, Flags: flags})
		require.NoError(t, err)
		require.Equal(t, text, it.Value)
		for n := range packed {
			_, err := cache.Decode(client.Item{Value: packed[:n], Flags: flags})
			require.ErrorIs(t, err, typed.ErrCorrupt, "%s, %d of %d bytes", name, n, len(packed))
		}
		_, err = cache.Decode(client.Item{Value: append(bytes.Clone(packed), "more"...), Flags: flags})
		require.ErrorIs(t, err, typed.ErrCorrupt, name)
		_, err = cache.Decode(client.Item{Value: []byte(text), Flags: flags})
		require.Error(t, err, name)
	}
	packed, err := compressors["zstd"].Append(nil, []byte(text))
	require.NoError(t, err)
	for i := range packed {
		damaged := bytes.Clone(packed)
		damaged[i] ^= 0x10
		back, err := compressors["zstd"].Decode(nil, damaged, 1<<20)
		require.True(t, err != nil || string(back) == text, "its checksum finds it: byte %d", i)
	}
}

func TestLevels(t *testing.T) {
	text := []byte(strings.Repeat("compressible ", 1000))
	for level := zstd.SpeedFastest; level <= zstd.SpeedBestCompression; level++ {
		z, err := compress.ZstdLevel(level)
		require.NoError(t, err)
		require.EqualValues(t, 3, z.ID())
		packed, err := z.Append(nil, text)
		require.NoError(t, err)
		back, err := compress.Zstd().Decode(nil, packed, len(text))
		require.NoError(t, err)
		require.Equal(t, text, back)
	}
	for _, level := range []zstd.EncoderLevel{0, zstd.SpeedBestCompression + 1} {
		_, err := compress.ZstdLevel(level)
		require.ErrorIs(t, err, client.ErrConfig)
	}
}

// Caches and goroutines share a compressor, from its first use on.
func TestConcurrent(t *testing.T) {
	for _, z := range []typed.Compressor{compress.Zstd(), compress.S2()} {
		var all sync.WaitGroup
		for g := range 16 {
			all.Go(func() {
				var packed, back []byte
				for i := range 50 {
					v := strings.Repeat(fmt.Sprintf("%d by %d, ", i, g), 1+i*37)
					var err error
					packed, err = z.Append(packed[:0], []byte(v))
					assert.NoError(t, err)
					back, err = z.Decode(back[:0], packed, len(v))
					if !assert.NoError(t, err) || !assert.Equal(t, v, string(back)) {
						return
					}
				}
			})
		}
		all.Wait()
	}
}

// In memory that is large enough nothing is allocated.
func TestAllocs(t *testing.T) {
	if raceEnabled {
		t.Log("the race detector makes sync.Pool forget: allocations are counted without it")
		return
	}
	text := []byte(strings.Repeat("compressible ", 1000))
	for name, z := range compressors {
		packed, err := z.Append(nil, text)
		require.NoError(t, err)
		dst := make([]byte, 0, 2*len(text))
		require.Zero(t, testing.AllocsPerRun(100, func() {
			if _, e := z.Append(dst, text); e != nil {
				err = e
			}
			if _, e := z.Decode(dst, packed, 1<<20); e != nil {
				err = e
			}
		}), name)
		require.NoError(t, err)
	}
}

// fuzzLimit is small, so that the fuzzer finds what exceeds it.
const fuzzLimit = 4 << 10

// FuzzDecode: any bytes are decoded or are an error, and nothing exceeds the limit.
func FuzzDecode(f *testing.F) {
	for _, z := range compressors {
		for _, v := range [][]byte{nil, []byte("a"), make([]byte, fuzzLimit), make([]byte, 1<<20), []byte(strings.Repeat("text ", 100))} {
			packed, err := z.Append(nil, v)
			require.NoError(f, err)
			f.Add(packed)
		}
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		for name, z := range compressors {
			back, err := z.Decode(nil, src, fuzzLimit)
			if err == nil && len(back) > fuzzLimit {
				t.Fatalf("%s: %d bytes", name, len(back))
			}
			unlimited, freely := z.Decode(nil, src, 1<<20)
			if err == nil && (freely != nil || !bytes.Equal(back, unlimited)) {
				t.Fatalf("%s: other bytes with a higher limit, or %v", name, freely)
			}
			if errors.Is(err, typed.ErrDecodedSize) && freely == nil && len(unlimited) <= fuzzLimit {
				t.Fatalf("%s: %d bytes were said to be too much", name, len(unlimited))
			}
		}
	})
}
