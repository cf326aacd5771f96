package client_test

import (
	"bytes"
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

// A point is a moment in a request's life at which its call ends. The package's
// documentation has the same table. (The first one, waiting for a connection,
// is TestGiveUpConnecting's.)
type point struct {
	name string

	// stop has the server hold up what comes, so that the call gets as far as
	// the point and no further.
	stop func(s *stage)
	call func(ctx context.Context, s *stage) error
	// there reports whether the call has got to the point.
	there func(s *stage) bool

	sent bool // at that point something of the request has been sent
}

var points = []point{
	{
		name: "waiting in the send buffer",
		stop: func(s *stage) {
			s.door.let(1000)
			s.background(func() error { return s.c.Set(patient(s), client.Item{Key: "big", Value: s.big}) })
			s.awaitBytes(1000)
		},
		call: func(ctx context.Context, s *stage) error {
			return s.c.Set(ctx, client.Item{Key: "victim", Value: []byte("never sent")})
		},
		there: func(s *stage) bool { return s.waits.Load() },
	},
	{
		name: "half sent",
		stop: func(s *stage) { s.door.let(1000) },
		call: func(ctx context.Context, s *stage) error {
			return s.c.Set(ctx, client.Item{Key: "victim", Value: s.big})
		},
		there: func(s *stage) bool { return s.srv.BytesRead() >= s.bytesBefore+1000 },
		sent:  true,
	},
	{
		name:  "sent",
		stop:  func(s *stage) { s.holdReply("small", 0) },
		call:  get("small"),
		there: func(s *stage) bool { return s.srv.RequestCount() > s.asked },
		sent:  true,
	},
	{
		name:  "reply header half read",
		stop:  func(s *stage) { s.holdReply("small", 3) },
		call:  get("small"),
		there: func(s *stage) bool { return s.received() >= 3 },
		sent:  true,
	},
	{
		name:  "value half read",
		stop:  func(s *stage) { s.holdReply("small", 500) },
		call:  get("small"),
		there: func(s *stage) bool { return s.received() >= 500 },
		sent:  true,
	},
	{
		name: "value on its way into the caller's slice",
		stop: func(s *stage) { s.holdReply("large", 600_000) },
		call: func(ctx context.Context, s *stage) error {
			_, _, err := s.c.GetAppend(ctx, s.dst[:0], "large")
			for i := range s.dst {
				s.dst[i] = 0xD5 // it is ours again, whatever has come
			}
			return err
		},
		there: func(s *stage) bool { return s.received() > 0 },
		sent:  true,
	},
	{
		name: "value on its way into memory that was to be lent",
		stop: func(s *stage) { s.holdReply("large", 600_000) },
		call: func(ctx context.Context, s *stage) error {
			_, err := s.c.GetLease(ctx, "large")
			return err
		},
		there: func(s *stage) bool { return s.received() > 0 },
		sent:  true,
	},
	{
		name: "between the values of a GetMulti",
		stop: func(s *stage) { s.holdReply("small", 1500) },
		call: func(ctx context.Context, s *stage) error {
			return firstError(s.c, ctx, "own", "small", "next")
		},
		there: func(s *stage) bool { return s.received() >= 1000 },
		sent:  true,
	},
}

func get(key string) func(ctx context.Context, s *stage) error {
	return func(ctx context.Context, s *stage) error {
		_, err := s.c.Get(ctx, key)
		return err
	}
}

// How a call ends at a point.
type ending uint8

const (
	byDeadline ending = iota
	byCancel
	byLoss // of the connection
	byClose
)

func (e ending) String() string {
	return [...]string{"deadline", "cancel", "connection lost", "client closed"}[e]
}

// stage is one client and its server, for one call at one point.
type stage struct {
	*testing.T
	c       *client.Client
	srv     *memcachedtest.Server
	door    *door
	release chan struct{} // lets held replies go
	big     []byte        // more than any socket's buffers
	dst     []byte

	asked       int // requests, bytes and replies before the call
	bytesBefore int64
	inBefore    uint64
	waits       atomic.Bool // the call's request is queued
	others      []chan error
}

// watched is a context that tells when a call begins to wait with it, which is
// after it has queued its request.
type watched struct {
	context.Context
	s *stage
}

func (w watched) Done() <-chan struct{} {
	w.s.waits.Store(true)
	return w.Context.Done()
}

func newStage(t *testing.T, kind client.EngineKind, network string) *stage {
	s := &stage{T: t, release: make(chan struct{}), big: make([]byte, 8<<20), dst: make([]byte, 1<<20)}
	s.srv = memcachedtest.NewServer(t, memcachedtest.ServerOptions{Network: "none", ItemLimitBytes: 16 << 20})
	s.door = newDoor(t, network, s.srv)
	s.c = dial(t, &client.Config{Engine: kind, ConnsPerServer: 1, OpTimeout: -1, StallLimit: -1}, s.door.addr)
	for key, size := range map[string]int{"small": 1000, "large": 1 << 20, "own": 700, "next": 800} {
		require.NoError(t, s.c.Set(patient(t), client.Item{Key: key, Value: bytes.Repeat([]byte(key[:1]), size)}))
	}
	s.asked, s.bytesBefore, s.inBefore = s.srv.RequestCount(), s.srv.BytesRead(), s.c.Counters().BytesIn
	return s
}

func (s *stage) holdReply(key string, at int) {
	s.srv.SetScript(memcachedtest.OnKey(key, memcachedtest.Answer().StallAt(at, s.release)))
}

func (s *stage) received() int { return int(s.c.Counters().BytesIn - s.inBefore) }

func (s *stage) awaitBytes(n int64) {
	require.NoError(s, s.srv.Wait(patient(s), func() bool { return s.srv.BytesRead() >= s.bytesBefore+n }))
}

func (s *stage) background(f func() error) {
	done := make(chan error, 1)
	go func() { done <- f() }()
	s.others = append(s.others, done)
}

// getsOwn has a call get what is stored under its key, and nothing else.
func (s *stage) getsOwn(key string, size int) error {
	it, err := s.c.Get(patient(s), key)
	if err == nil && !bytes.Equal(it.Value, bytes.Repeat([]byte(key[:1]), size)) {
		err = errors.New("another value than that of " + key)
	}
	return err
}

// Wherever a call ends, its error says whether it may be repeated, and that is
// true; the connection is kept if it was not lost itself, its late reply is
// consumed, and whoever is behind gets its own.
func TestEveryPoint(t *testing.T) {
	onEngines(t, func(t *testing.T, kind client.EngineKind) {
		for _, network := range []string{"tcp", "unix"} {
			for _, p := range points {
				for how := range byClose + 1 {
					t.Run(network+"/"+p.name+"/"+how.String(), func(t *testing.T) {
						endAt(t, kind, network, p, how, false)
						endAt(t, kind, network, p, how, true)
					})
				}
			}
		}
	})
}

// endAt ends a call at a point, with another caller behind it or not. A
// deadline must be set before: one that comes too early is tried again, later.
func endAt(t *testing.T, kind client.EngineKind, network string, p point, how ending, behind bool) {
	for patience := 30 * time.Millisecond; ; patience *= 4 {
		s := newStage(t, kind, network)
		p.stop(s)
		ctx, cancel := context.WithCancel(context.Background())
		if how == byDeadline {
			ctx, cancel = context.WithTimeout(context.Background(), patience)
		}
		defer cancel()
		done := make(chan error, 1)
		go func() { done <- p.call(watched{ctx, s}, s) }()
		var err error
		reached := p.there(s)
		for early := false; !reached && !early; reached = reached || p.there(s) {
			select {
			case err = <-done:
				early = true
				done <- err
			case <-time.After(100 * time.Microsecond):
			}
		}
		if !reached && how == byDeadline {
			require.ErrorIs(t, err, client.ErrTimeout)
			close(s.release)
			s.door.let(-1)
			continue
		}
		require.True(t, reached, "%v", err)
		s.finish(p, how, behind, cancel, done)
		return
	}
}

// finish ends the call, which is at its point, and looks at everything.
func (s *stage) finish(p point, how ending, behind bool, cancel func(), done chan error) {
	if behind {
		s.background(func() error { return s.getsOwn("own", 700) })
	}
	switch how {
	case byDeadline:
	case byCancel:
		cancel()
	case byLoss:
		s.srv.SetScript(nil)
		s.door.let(-1)
		s.srv.CloseConns()
	case byClose:
		require.NoError(s, s.c.Close())
	}
	err := <-done
	if how == byLoss && !p.sent {
		require.NoError(s, err, "what was not sent goes by the next connection")
	} else {
		s.checkError(p, how, err)
	}
	if how == byClose {
		for _, o := range s.others {
			require.ErrorIs(s, <-o, client.ErrClosed)
		}
		return
	}
	s.srv.SetScript(nil)
	close(s.release)
	s.door.let(-1)
	for _, o := range s.others {
		if err := <-o; how != byLoss {
			require.NoError(s, err, "of a caller on the same connection")
		} else if err != nil {
			require.ErrorIs(s, err, client.ErrConnLost)
		}
	}
	require.NoError(s, s.getsOwn("next", 800))
	for i := range s.dst {
		if s.dst[i] != 0 && s.dst[i] != 0xD5 {
			s.Fatal("a late reply was written to the caller's slice")
		}
	}
	s.checkWorld(p, how)
}

func (s *stage) checkError(p point, how ending, err error) {
	want := [...]error{context.DeadlineExceeded, context.Canceled, client.ErrConnLost, client.ErrClosed}[how]
	require.ErrorIs(s, err, want)
	outcome := client.NotSent
	if p.sent {
		outcome = client.Unknown
	}
	require.Equal(s, outcome.String(), opError(s, err).Outcome.String())
	require.Equal(s, !p.sent, client.SafeToRetry(err))
}

// checkWorld compares what the error said with what the server saw, and looks at
// what became of the connection.
func (s *stage) checkWorld(p point, how ending) {
	n := s.c.Counters()
	assert.Zero(s, n.Desyncs)
	if how == byLoss {
		assert.EqualValues(s, 2, n.Dials)
		return
	}
	assert.EqualValues(s, 1, n.Dials)
	assert.Zero(s, n.Losses, "the connection was not kept")
	assert.EqualValues(s, 1, n.Timeouts)
	late := n.Servers[s.door.addr]
	if p.sent {
		assert.EqualValues(s, 1, late.LateReplies)
	} else {
		assert.Zero(s, late.LateReplies)
		for _, r := range s.srv.Requests() {
			assert.NotEqual(s, "victim", r.Key, "what was not sent has arrived")
		}
	}
}
