package client_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

// itemsOf makes an item for each key, with a value by the key.
func itemsOf(keys []string) []client.Item {
	items := make([]client.Item, len(keys))
	for i, k := range keys {
		items[i] = client.Item{Key: k, Value: valueOf(k), Flags: uint32(i)}
	}
	return items
}

func batchError(t testing.TB, err error) *client.BatchError {
	t.Helper()
	var b *client.BatchError
	require.Truef(t, errors.As(err, &b), "%T %v is no *BatchError", err, err)
	return b
}

// mustHold checks that all keys have the values of itemsOf, or have none.
func mustHold(t testing.TB, c *client.Client, keys []string, gone func(i int) bool) {
	t.Helper()
	got := make(map[string]client.Item)
	for it, err := range c.GetMulti(patient(t), keys) {
		require.NoError(t, err)
		got[it.Key] = it
	}
	for i, k := range keys {
		it, ok := got[k]
		require.Equal(t, !gone(i), ok, "%s", k)
		if ok {
			require.True(t, bytes.Equal(valueOf(k), it.Value), "%s", k)
		}
	}
}

func never(int) bool { return false }

func TestSetDeleteTouchMulti(t *testing.T) {
	for _, n := range []int{1, 3} {
		t.Run(fmt.Sprint(n, " servers"), func(t *testing.T) {
			onServers(t, n, func(t *testing.T, c *client.Client, _ []*memcachedtest.Process) {
				for _, count := range []int{0, 1, 20, 3000} {
					keys := keysOf(fmt.Sprint("b", count, "-%d"), count)
					require.NoError(t, c.SetMulti(patient(t), itemsOf(keys)))
					mustHold(t, c, keys, never)
					require.NoError(t, c.TouchMulti(patient(t), keys, time.Hour))
					var some []string
					for i := 0; i < count; i += 3 {
						some = append(some, keys[i])
					}
					require.NoError(t, c.DeleteMulti(patient(t), some))
					mustHold(t, c, keys, func(i int) bool { return i%3 == 0 })
					for what, err := range map[string]error{
						"touch multi":  c.TouchMulti(patient(t), keys, 0),
						"delete multi": c.DeleteMulti(patient(t), keys),
					} {
						if count == 0 {
							require.NoError(t, err)
							continue
						}
						b := batchError(t, err)
						require.Equal(t, what, b.Op)
						require.Len(t, b.Errs, count)
						for i, err := range b.Errs {
							if i%3 == 0 {
								require.ErrorIs(t, err, client.ErrNotFound, "%s %d", what, i)
								require.NotEmpty(t, opError(t, err).Server)
							} else if what == "touch multi" || count == 1 {
								require.NoError(t, err)
							}
						}
						require.NoError(t, client.Except(err, client.ErrNotFound))
						require.Error(t, client.Except(err, client.ErrConflict))
						require.False(t, client.SafeToRetry(err))
					}
				}
				require.NoError(t, c.SetMulti(patient(t), nil))
				require.NoError(t, c.DeleteMulti(patient(t), nil))
				require.NoError(t, c.Do(patient(t), nil))
				n := c.Counters()
				require.Zero(t, n.Losses)
				require.Zero(t, n.Timeouts)
			})
		})
	}
}

// What one item does wrong costs no other anything.
func TestSetMultiRefusals(t *testing.T) {
	onServers(t, 2, func(t *testing.T, c *client.Client, _ []*memcachedtest.Process) {
		keys := keysOf("refused-%d", 500)
		items := itemsOf(keys)
		bad := map[int]error{7: client.ErrTooLarge, 100: client.ErrKey, 101: client.ErrTTL, 102: client.ErrKey, 499: client.ErrTooLarge}
		items[7].Value = make([]byte, 3<<20)
		items[499].Value = make([]byte, 2<<20)
		items[100].Key = "a b"
		items[101].TTL = -1
		items[102].Key = ""
		err := c.SetMulti(patient(t), items)
		b := batchError(t, err)
		for i, err := range b.Errs {
			if want, ok := bad[i]; ok {
				require.ErrorIs(t, err, want)
				require.ErrorIs(t, b, want)
				require.NotContains(t, err.Error(), "refused-")
				require.Equal(t, i != 7 && i != 499, client.SafeToRetry(err), "those two were sent")
			} else {
				require.NoError(t, err, "%d", i)
			}
		}
		require.Contains(t, err.Error(), "memring: set multi: 5 of 500 failed: ")
		mustHold(t, c, keys, func(i int) bool { return bad[i] != nil })
		require.Zero(t, c.Counters().Losses)
	})
}

func TestBatchErrorText(t *testing.T) {
	var errs []error
	for i := range 20 {
		errs = append(errs, &client.OpError{Op: "set", Server: fmt.Sprint("server", i%5), Err: client.ErrTimeout, Outcome: client.Unknown})
	}
	errs[0], errs[1] = nil, nil
	err := &client.BatchError{Op: "set multi", Errs: errs}
	require.EqualError(t, err, "memring: set multi: 18 of 20 failed: 4 × set server2: timeout (outcome unknown); "+
		"4 × set server3: timeout (outcome unknown); 4 × set server4: timeout (outcome unknown); and 2 other causes")
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.False(t, client.SafeToRetry(err))
	require.Len(t, err.Unwrap(), 18)
}

// All kinds of requests, in the order in which they were added, also those for one
// key.
func TestBatch(t *testing.T) {
	onServers(t, 3, func(t *testing.T, c *client.Client, _ []*memcachedtest.Process) {
		var b client.Batch
		ctx := patient(t)
		for round := range 3 { // it can be used again
			var checks []func()
			for i := range 200 {
				k := fmt.Sprint("mixed-", round, "-", i)
				want := func(r interface{ Err() error }, err error) func() {
					require.ErrorIs(t, r.Err(), client.ErrArgument, "not yet")
					return func() { require.ErrorIs(t, r.Err(), err) }
				}
				miss := b.Get(k)
				checks = append(checks,
					want(miss, client.ErrNotFound),
					want(b.Set(client.Item{Key: k, Value: []byte("1"), Flags: uint32(i)}), nil),
					want(b.Add(client.Item{Key: k, Value: []byte("2")}), client.ErrNotStored),
					want(b.Append(client.Item{Key: k, Value: []byte("0")}), nil),
					want(b.Prepend(client.Item{Key: k, Value: []byte("3")}), nil),
				)
				ten, hit := b.Increment(k, 10, nil), b.Get(k)
				made := b.Decrement(k+"n", 1, &client.Counter{Value: 7})
				checks = append(checks,
					want(b.Increment(k+"none", 1, nil), client.ErrNotFound),
					want(b.CompareAndSwap(client.Item{Key: k, CAS: 1 << 60}), client.ErrConflict),
					want(b.CompareAndSwap(client.Item{Key: k}), client.ErrArgument),
					want(b.Touch(k, time.Hour), nil),
					want(b.Touch(k, -time.Hour), client.ErrTTL),
					want(b.Replace(client.Item{Key: k, Value: []byte("x")}), nil),
					want(b.Increment(k, 1, nil), client.ErrNotNumber),
					want(b.Delete(k), nil),
					want(b.Delete(k), client.ErrNotFound),
					want(b.Get("a b"), client.ErrKey),
					want(b.Get(k, client.GetOptions{Recache: -1}), client.ErrArgument),
					func() {
						n, err := ten.Count()
						require.NoError(t, err)
						require.EqualValues(t, 320, n)
						n, err = made.Count()
						require.NoError(t, err)
						require.EqualValues(t, 7, n)
						it, err := hit.Item()
						require.NoError(t, err)
						require.Equal(t, k, it.Key)
						require.Equal(t, "320", string(it.Value))
						require.EqualValues(t, i, it.Flags)
						require.NotZero(t, it.CAS)
						it, err = miss.Item()
						require.ErrorIs(t, err, client.ErrNotFound)
						require.Zero(t, it)
					})
			}
			require.Equal(t, 200*19, b.Len())
			err := c.Do(ctx, &b)
			require.Zero(t, b.Len())
			require.Equal(t, 200*10, failures(batchError(t, err)))
			for _, check := range checks {
				check()
			}
		}
		require.Zero(t, c.Counters().Losses)
	})
}

func failures(b *client.BatchError) (n int) {
	for _, err := range b.Errs {
		if err != nil {
			n++
		}
	}
	return n
}
