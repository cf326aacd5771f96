package client

import (
	"context"
	"errors"
	"time"
)

// dial connects to the lane's server.
func (f *fanout) dial(ctx context.Context, l *lane) {
	pool := l.pool
	f.prepare(ctx, l, func(ctx context.Context, deadline time.Time) error {
		_, err := pool.get(ctx, deadline)
		return err
	})
}

// serverVersion is that of the server behind l.c, nil if it has yet to be asked.
func (l *lane) serverVersion() *serverVersion {
	if v := l.c.version.Load(); v != nil || l.asked != l.c {
		return v
	}
	return l.version // it does not say which
}

// askVersion asks for it. Nothing is in flight.
func (f *fanout) askVersion(ctx context.Context, l *lane) {
	cl, c := f.cl, l.c
	f.prepare(ctx, l, func(ctx context.Context, deadline time.Time) error {
		v, err := cl.askVersion(ctx, deadline, c, f.eng)
		if errors.Is(err, errConnDown) {
			return nil // connect finds another
		}
		f.mu.Lock()
		l.asked, l.version = c, v
		f.mu.Unlock()
		return err
	})
}

// prepare has a goroutine do what a lane cannot go on without, so that the others need
// not wait.
func (f *fanout) prepare(ctx context.Context, l *lane, do func(ctx context.Context, deadline time.Time) error) {
	if f.cancel == nil {
		f.ctx, f.cancel = context.WithCancel(ctx)
	}
	prepCtx, deadline := f.ctx, f.deadline(l)
	l.preparing = f.cl.spawn(func() {
		err := do(prepCtx, deadline)
		f.mu.Lock()
		l.prepared, l.prepErr = true, err
		f.mu.Unlock()
		f.eng.Wake(&f.own)
	})
	if !l.preparing {
		l.err = ErrClosed
	}
}

// resume notes which lanes can go on; what they have to send is sent with the next
// look at them.
func (f *fanout) resume() {
	if f.cancel == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range f.lanes {
		if l := &f.lanes[i]; l.prepared {
			l.preparing, l.prepared = false, false
			l.err = l.prepErr
		}
	}
}
