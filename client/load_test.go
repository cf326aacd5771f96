package client_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

// hour keeps what is loaded for longer than a test may take.
var hour = client.LoadOptions{TTL: time.Hour}

// loads returns a load function for a value.
func loads(value string) func(context.Context) (client.Item, error) {
	return func(context.Context) (client.Item, error) {
		return client.Item{Value: []byte(value), Flags: 7}, nil
	}
}

// noLoad is for calls that are to find a value.
func noLoad(t *testing.T) func(context.Context) (client.Item, error) {
	return func(context.Context) (client.Item, error) {
		assert.Fail(t, "it was loaded")
		return client.Item{}, errors.New("loaded")
	}
}

// errorList takes what LoadOptions.Notify is told.
type errorList struct {
	mu   sync.Mutex
	list []error
}

func (e *errorList) add(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.list = append(e.list, err)
}

func (e *errorList) has(target error) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return errors.Is(errors.Join(e.list...), target)
}

func (e *errorList) len() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.list)
}

// What is loaded is returned, stored as it is, and not loaded again; whatever its
// size, as long as the server takes it.
func TestGetOrLoad(t *testing.T) {
	onMatrix(t, func(t *testing.T, c *client.Client, _ *memcachedtest.Process) {
		for _, size := range []int{0, 1, 100, 70_000, 1_000_000, 2_000_000} {
			var told errorList
			opts := hour
			opts.Notify = told.add
			key, value := fmt.Sprint("k", size), string(bytes.Repeat([]byte("v"), size))
			it, err := c.GetOrLoad(patient(t), key, loads(value), opts)
			require.NoError(t, err)
			require.Equal(t, client.Item{Key: key, Value: []byte(value), Flags: 7}, it)
			if size > 1<<20 {
				require.True(t, told.has(client.ErrTooLarge))
				_, err = c.Get(patient(t), key)
				require.ErrorIs(t, err, client.ErrNotFound, "the claim was given back")
				continue
			}
			it, err = c.GetOrLoad(patient(t), key, noLoad(t), opts)
			require.NoError(t, err)
			require.NotZero(t, it.CAS)
			it.CAS = 0
			require.Equal(t, client.Item{Key: key, Value: []byte(value), Flags: 7}, it)
			require.Zero(t, told.len())
		}
		n := c.LoadCounters()
		require.EqualValues(t, 6, n.Loads)
		require.Zero(t, n.Failed+n.Lost+n.WithoutCache+n.Background)
	})
}

// An empty value without flags, which looks like that of a claim, is a value.
func TestLoadEmptyValue(t *testing.T) {
	onMatrix(t, func(t *testing.T, c *client.Client, _ *memcachedtest.Process) {
		opts := client.LoadOptions{TTL: time.Hour, Refresh: time.Minute}
		for i := range 3 {
			n := 0
			it, err := c.GetOrLoad(patient(t), "k", func(context.Context) (client.Item, error) {
				n++
				return client.Item{}, nil
			}, opts)
			require.NoError(t, err)
			require.Empty(t, it.Value)
			require.Equal(t, i == 0, n == 1)
		}
		// While it is due for its refresh, it is loaded like a miss.
		require.NoError(t, c.Touch(patient(t), "k", time.Second*30))
		it, err := c.GetOrLoad(patient(t), "k", loads("v"), opts)
		require.NoError(t, err)
		require.Equal(t, "v", string(it.Value))
	})
}

// The callers of a process share a load, and none can write to another's value.
func TestLoadIsShared(t *testing.T) {
	onMatrix(t, func(t *testing.T, c *client.Client, _ *memcachedtest.Process) {
		const callers = 50
		var n atomic.Int64
		release := make(chan struct{})
		own := []byte("value")
		var wg sync.WaitGroup
		for range callers {
			wg.Go(func() {
				it, err := c.GetOrLoad(patient(t), "k", func(context.Context) (client.Item, error) {
					n.Add(1)
					<-release
					return client.Item{Value: own}, nil
				}, hour)
				assert.NoError(t, err)
				assert.Equal(t, "value", string(it.Value))
				it.Value[0]++
			})
		}
		eventually(t, "all are waiting", func() bool { return c.LoadCounters().Shared == callers-1 })
		close(release)
		wg.Wait()
		require.EqualValues(t, 1, n.Load())
		require.Equal(t, "value", string(own))
	})
}

// Two clients stand for two processes: one loads, the other waits for it.
func TestLoadOfAnotherProcess(t *testing.T) {
	onSockets(t, func(t *testing.T, c *client.Client, mc *memcachedtest.Process) {
		other := dial(t, &client.Config{OpTimeout: 20 * time.Second}, mc.Addr())
		release, began := make(chan struct{}), make(chan struct{})
		var wg sync.WaitGroup
		wg.Go(func() {
			it, err := c.GetOrLoad(patient(t), "k", func(context.Context) (client.Item, error) {
				close(began)
				<-release
				return client.Item{Value: []byte("v")}, nil
			}, hour)
			assert.NoError(t, err)
			assert.Equal(t, "v", string(it.Value))
		})
		<-began
		impatient := hour
		impatient.NoWait = true
		_, err := other.GetOrLoad(patient(t), "k", noLoad(t), impatient)
		require.ErrorIs(t, err, client.ErrClaimed)
		for range 3 {
			wg.Go(func() {
				it, err := other.GetOrLoad(patient(t), "k", noLoad(t), hour)
				assert.NoError(t, err)
				assert.Equal(t, "v", string(it.Value))
			})
		}
		eventually(t, "it waits", func() bool { n := other.LoadCounters(); return n.Waits == 1 && n.Shared == 2 })
		_, err = other.GetOrLoad(patient(t), "k", noLoad(t), impatient)
		require.ErrorIs(t, err, client.ErrClaimed, "it waits for this process's wait neither")
		close(release)
		wg.Wait()
		require.Zero(t, other.LoadCounters().Loads)

		it, err := other.GetOrLoad(patient(t), "another", loads("v"), impatient)
		require.NoError(t, err, "what nobody loads it loads itself")
		require.Equal(t, "v", string(it.Value))
	})
}

// A load that fails lets another process have the claim at once, long before it
// would have run out.
func TestLoadFails(t *testing.T) {
	failure := errors.New("the database is away")
	for name, test := range map[string]struct {
		load func(context.Context) (client.Item, error)
		is   error
	}{
		"error":     {func(context.Context) (client.Item, error) { return client.Item{}, failure }, failure},
		"not found": {func(context.Context) (client.Item, error) { return client.Item{}, client.ErrNotFound }, client.ErrNotFound},
		"panic":     {func(context.Context) (client.Item, error) { panic(failure) }, failure},
		"goexit":    {func(context.Context) (client.Item, error) { runtime.Goexit(); return client.Item{}, nil }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			onSockets(t, func(t *testing.T, c *client.Client, mc *memcachedtest.Process) {
				other := dial(t, &client.Config{OpTimeout: 20 * time.Second}, mc.Addr())
				release, began := make(chan struct{}), make(chan struct{})
				opts := client.LoadOptions{TTL: time.Hour, Claim: time.Hour}
				var wg sync.WaitGroup
				wg.Go(func() {
					_, err := c.GetOrLoad(patient(t), "k", func(ctx context.Context) (client.Item, error) {
						close(began)
						<-release
						return test.load(ctx)
					}, opts)
					if test.is != nil {
						assert.ErrorIs(t, err, test.is)
					}
					var panicked *client.PanicError
					assert.Equal(t, name == "panic" || name == "goexit", errors.As(err, &panicked))
					assert.NotContains(t, err.Error(), "k\x00")
				})
				<-began
				wg.Go(func() {
					it, err := other.GetOrLoad(patient(t), "k", loads("v"), opts)
					assert.NoError(t, err)
					assert.Equal(t, "v", string(it.Value))
				})
				eventually(t, "it waits", func() bool { return other.LoadCounters().Waits == 1 })
				close(release)
				wg.Wait()
				require.EqualValues(t, 1, other.LoadCounters().Loads)
				require.EqualValues(t, 1, c.LoadCounters().Failed)
				it, err := c.GetOrLoad(patient(t), "k", noLoad(t), opts)
				require.NoError(t, err, "the failure is not kept")
				require.Equal(t, "v", string(it.Value))
			})
		})
	}
}

// A negative TTL is for what is not to be stored, and the Item's goes first.
func TestLoadTTL(t *testing.T) {
	onMatrix(t, func(t *testing.T, c *client.Client, _ *memcachedtest.Process) {
		for _, test := range []struct {
			opts, item time.Duration
			kept       bool
		}{{0, 0, true}, {-1, 0, false}, {time.Hour, -1, false}, {-1, time.Hour, true}} {
			it, err := c.GetOrLoad(patient(t), "k", func(context.Context) (client.Item, error) {
				return client.Item{Value: []byte("v"), TTL: test.item}, nil
			}, client.LoadOptions{TTL: test.opts})
			require.NoError(t, err)
			require.Equal(t, client.Item{Key: "k", Value: []byte("v")}, it)
			if err = c.Delete(patient(t), "k"); !test.kept {
				require.ErrorIs(t, err, client.ErrNotFound)
			} else {
				require.NoError(t, err)
			}
		}
	})
}

// What has been deleted or stored meanwhile is not overwritten by what was loaded
// before.
func TestLoadIsOvertaken(t *testing.T) {
	onMatrix(t, func(t *testing.T, c *client.Client, _ *memcachedtest.Process) {
		var told errorList
		opts := hour
		opts.Notify = told.add
		it, err := c.GetOrLoad(patient(t), "k", func(ctx context.Context) (client.Item, error) {
			require.NoError(t, c.Delete(ctx, "k"))
			// The claim is gone, so this one does not join the load that is under way.
			it, err := c.GetOrLoad(ctx, "k", loads("new"), opts)
			require.NoError(t, err)
			require.Equal(t, "new", string(it.Value))
			return client.Item{Value: []byte("old")}, nil
		}, opts)
		require.NoError(t, err)
		require.Equal(t, "old", string(it.Value))
		it, err = c.GetOrLoad(patient(t), "k", noLoad(t), opts)
		require.NoError(t, err)
		require.Equal(t, "new", string(it.Value))
		require.EqualValues(t, 1, c.LoadCounters().Lost)
		require.True(t, told.has(client.ErrConflict))
	})
}

// An item that is about to expire is loaded anew in the background, by one of those
// that want it.
func TestRefresh(t *testing.T) {
	onSockets(t, func(t *testing.T, c *client.Client, mc *memcachedtest.Process) {
		clients := []*client.Client{c, dial(t, nil, mc.Addr()), dial(t, nil, mc.Addr())}
		opts := client.LoadOptions{TTL: time.Hour, Refresh: time.Minute}
		require.NoError(t, c.Set(patient(t), client.Item{Key: "k", Value: []byte("old"), TTL: 50 * time.Second}))
		var n atomic.Int64
		release := make(chan struct{})
		for range 5 {
			for _, c := range clients {
				it, err := c.GetOrLoad(patient(t), "k", func(context.Context) (client.Item, error) {
					n.Add(1)
					<-release
					return client.Item{Value: []byte("new")}, nil
				}, opts)
				require.NoError(t, err)
				require.Equal(t, "old", string(it.Value))
				require.Zero(t, it.State)
			}
		}
		close(release)
		eventually(t, "it is new", func() bool {
			it, err := c.GetOrLoad(patient(t), "k", noLoad(t), opts)
			return err == nil && string(it.Value) == "new"
		})
		require.EqualValues(t, 1, n.Load())
	})
}

// Keys of all kinds are loaded, and given back, under the name they are stored by.
func TestLoadKeys(t *testing.T) {
	onEngines(t, func(t *testing.T, kind client.EngineKind) {
		mc := memcachedtest.Start(t, memcachedtest.Options{Network: "unix"})
		c := dial(t, &client.Config{
			Engine: kind, OpTimeout: 20 * time.Second, KeyPrefix: "app:", BinaryKeys: true, HashLongKeys: true,
		}, mc.Addr())
		for _, key := range []string{"k", "a b\r\n", string(bytes.Repeat([]byte("long"), 100))} {
			_, err := c.GetOrLoad(patient(t), key, func(context.Context) (client.Item, error) {
				return client.Item{}, errors.ErrUnsupported
			}, hour)
			require.ErrorIs(t, err, errors.ErrUnsupported)
			for _, load := range []func(context.Context) (client.Item, error){loads("v"), noLoad(t)} {
				it, err := c.GetOrLoad(patient(t), key, load, hour)
				require.NoError(t, err)
				require.Equal(t, key, it.Key)
				require.Equal(t, "v", string(it.Value))
			}
		}
	})
}

func TestBadLoads(t *testing.T) {
	srv := memcachedtest.NewServer(t, memcachedtest.ServerOptions{})
	c := dial(t, nil, srv.Addr())
	for _, opts := range []client.LoadOptions{
		{Refresh: -1}, {Claim: -1}, {TTL: time.Minute, Refresh: time.Minute}, {Claim: 1 << 62}, {Refresh: 1 << 62},
	} {
		_, err := c.GetOrLoad(patient(t), "k", noLoad(t), opts)
		require.Equal(t, client.NotSent, opError(t, err).Outcome)
	}
	_, err := c.GetOrLoad(patient(t), "k", nil, hour)
	require.ErrorIs(t, err, client.ErrArgument)
	_, err = c.GetOrLoad(patient(t), "no good", noLoad(t), hour)
	require.ErrorIs(t, err, client.ErrKey)
	require.Empty(t, srv.Requests())
	_, err = (*client.Client)(nil).GetOrLoad(patient(t), "k", noLoad(t), hour)
	require.ErrorIs(t, err, client.ErrNilClient)
	require.Zero(t, (*client.Client)(nil).LoadCounters())
}

// A hit costs no more allocations than a Get.
func TestLoadHitAllocates(t *testing.T) {
	mc := memcachedtest.Start(t, memcachedtest.Options{Network: "unix"})
	c := dial(t, nil, mc.Addr())
	require.NoError(t, c.Set(patient(t), client.Item{Key: "k", Value: []byte("v")}))
	ctx := patient(t)
	load := noLoad(t)
	get := testing.AllocsPerRun(200, func() { _, _ = c.Get(ctx, "k") })
	both := testing.AllocsPerRun(200, func() { _, _ = c.GetOrLoad(ctx, "k", load, hour) })
	if !raceEnabled {
		require.Equal(t, get, both)
	}
}
