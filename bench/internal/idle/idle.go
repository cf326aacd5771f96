// Package idle opens many connections, uses each once and lets them fall idle, to tell what they cost then.
//
// memring opens a second connection to a server only when the first is busy. So that it has as many as it is
// told to, it is given as many names of one server: symbolic links to its socket.
package idle

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/memring/memring/client"
)

const (
	key      = "idle"
	bodySize = 100 << 10 // of the value that each connection stores: more than a socket takes at once
	callers  = 16
	patience = 15 * time.Second // of each call
	rest     = time.Second      // see Idle.rest
)

// Idle is a client and the names of its server.
type Idle struct {
	c     *client.Client
	dir   string
	conns int
	rest  time.Duration // the connections are left alone before they are looked at: many times what an engine takes to notice
	turn  atomic.Uint64 // whose connection is next
}

// Open makes a client that is to have so many connections to the server at the socket. It doesn't connect.
func Open(engine client.EngineKind, socket string, conns int) (*Idle, error) {
	if err := roomFor(conns); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "idle-")
	if err != nil {
		return nil, err
	}
	i := &Idle{dir: dir, conns: conns, rest: rest}
	names := make([]string, conns)
	for n := range names {
		link := filepath.Join(dir, strconv.Itoa(n))
		if err := os.Symlink(socket, link); err != nil {
			return nil, errors.Join(err, i.Close())
		}
		names[n] = "unix:" + link
	}
	i.c, err = client.New(names, &client.Config{
		Engine: engine, Rings: 1, ConnsPerServer: 1, SpareConns: -1, OpTimeout: patience, DialTimeout: patience,
		Selector: func([]string) client.Selector { return i },
	})
	if err != nil {
		return nil, errors.Join(err, i.Close())
	}
	return i, nil
}

// Pick implements [client.Selector]: the connections take turns, whatever the key.
func (i *Idle) Pick(string) int { return int(i.turn.Add(1)-1) % i.conns }

// Close ends the connections.
func (i *Idle) Close() (err error) {
	if i.c != nil {
		err = i.c.Close()
	}
	return errors.Join(err, os.RemoveAll(i.dir))
}

// Measure has each connection store a value and get it, and returns the figures of the report: what the
// process has when all are idle beyond what it had with one connection.
func (i *Idle) Measure() (map[string]float64, error) {
	body := make([]byte, bodySize)
	if err := i.use(1, body); err != nil {
		return nil, err
	}
	before, err := i.look()
	if err != nil {
		return nil, err
	}
	if err := i.use(i.conns, body); err != nil {
		return nil, err
	}
	if err := i.c.Delete(context.Background(), key); err != nil {
		return nil, err
	}
	after, err := i.look()
	if err != nil {
		return nil, err
	}
	n := i.c.Counters()
	if n.Conns != int64(i.conns) || n.Losses != 0 {
		return nil, fmt.Errorf("%d connections are open and %d were lost, want %d and none", n.Conns, n.Losses, i.conns)
	}
	return figures(before, after, i.conns), nil
}

// use has the next n connections store and get the value.
func (i *Idle) use(n int, body []byte) error {
	i.turn.Store(0)
	for _, op := range []func() error{
		func() error { return i.c.Set(context.Background(), client.Item{Key: key, Value: body}) },
		func() error {
			it, err := i.c.Get(context.Background(), key)
			if err == nil && len(it.Value) != bodySize {
				err = fmt.Errorf("the value has %d bytes, want %d", len(it.Value), bodySize)
			}
			return err
		},
	} {
		var left atomic.Int64
		left.Store(int64(n))
		var failed atomic.Pointer[error]
		var all sync.WaitGroup
		for range min(callers, n) {
			all.Go(func() {
				for left.Add(-1) >= 0 {
					if err := op(); err != nil {
						failed.CompareAndSwap(nil, &err)
						return
					}
				}
			})
		}
		all.Wait()
		if err := failed.Load(); err != nil {
			return *err
		}
		if n < i.conns {
			i.turn.Store(0) // the same connections again
		}
	}
	return nil
}

// look waits until nothing goes on any more, throws away what nobody needs, and reads the meters.
func (i *Idle) look() (meters, error) {
	time.Sleep(i.rest)
	runtime.GC()         // what is in a sync.Pool survives one collection
	debug.FreeOSMemory() // collects once more, and gives free memory back, or what is resident would be the past's
	return readMeters()
}
