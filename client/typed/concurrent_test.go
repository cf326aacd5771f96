package typed_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/typed"
)

// Many goroutines share caches of several types and one client, and each finds what
// it has stored, whatever memory it was encoded in and decoded from.
func TestConcurrent(t *testing.T) {
	onEngines(t, func(t *testing.T, c *client.Client) {
		ctx := patient(t)
		gz := &typed.Config{Compressor: typed.Gzip()}
		var all sync.WaitGroup
		for g := range 8 {
			all.Go(func() {
				stores(t, ctx, cacheOf(t, c, typed.JSON[user](), nil), g, func(s string) user { return user{Name: s} })
			})
		}
		users, texts, raw := cacheOf(t, c, typed.JSON[*user](), gz), cacheOf(t, c, typed.String(), gz), cacheOf(t, c, typed.Bytes(), gz)
		gobs, flat := cacheOf(t, c, typed.Gob[user](), gz), cacheOf(t, c, typed.Bytes(), nil)
		for g := range 4 {
			all.Go(func() { stores(t, ctx, users, 100+g, func(s string) *user { return &user{Name: s} }) })
			all.Go(func() { stores(t, ctx, texts, 200+g, func(s string) string { return s }) })
			all.Go(func() { stores(t, ctx, raw, 300+g, func(s string) []byte { return []byte(s) }) })
			all.Go(func() { stores(t, ctx, gobs, 400+g, func(s string) user { return user{Name: s} }) })
			all.Go(func() { stores(t, ctx, flat, 500+g, func(s string) []byte { return bytes.Clone([]byte(s)) }) })
		}
		all.Wait()
	})
}

// stores stores and gets as the g-th goroutine.
func stores[T any](t *testing.T, ctx context.Context, cache *typed.Cache[T], g int, of func(string) T) {
	for i := range 60 {
		key := fmt.Sprintf("g%d:%d", g, i%3)
		v := of(strings.Repeat(fmt.Sprintf("%d by %d, ", i, g), 1+(i*37+g)%900))
		if !assert.NoError(t, cache.Set(ctx, typed.Item[T]{Key: key, Value: v})) {
			return
		}
		it, err := cache.Get(ctx, key)
		if !assert.NoError(t, err) || !assert.Equal(t, v, it.Value) {
			return
		}
		for it, err := range cache.GetMulti(ctx, []string{key}) {
			if !assert.NoError(t, err) || !assert.Equal(t, v, it.Value) {
				return
			}
		}
	}
}

// A cache is worth nothing if it cannot be asked while others write to it.
func TestConcurrentOneKey(t *testing.T) {
	onEngines(t, func(t *testing.T, c *client.Client) {
		ctx := patient(t)
		cache := cacheOf(t, c, typed.JSON[[]int](), &typed.Config{Compressor: typed.Flate(), CompressFromBytes: 500})
		require.NoError(t, cache.Set(ctx, typed.Item[[]int]{Key: "k", Value: []int{0}}))
		var all sync.WaitGroup
		for g := range 8 {
			all.Go(func() {
				for i := range 100 {
					v := make([]int, 1+(g*31+i)%400)
					for j := range v {
						v[j] = len(v)
					}
					assert.NoError(t, cache.Set(ctx, typed.Item[[]int]{Key: "k", Value: v}))
					it, err := cache.Get(ctx, "k")
					if !assert.NoError(t, err) {
						return
					}
					for _, n := range it.Value {
						if n != len(it.Value) && !assert.Equal(t, []int{0}, it.Value) {
							return
						}
					}
				}
			})
		}
		all.Wait()
	})
}
