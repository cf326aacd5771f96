package client

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
)

// Ping asks every server for a sign of life. It returns nil if each has
// answered, else the errors of those that have not, joined.
func (cl *Client) Ping(ctx context.Context) error {
	return cl.each(ctx, verbPing, "", func(*server, *op) {})
}

// FlushAll invalidates every item on every server.
func (cl *Client) FlushAll(ctx context.Context) error {
	return cl.each(ctx, verbFlushAll, "", func(*server, *op) {})
}

// Version returns each server's version, by its address as given to [New]. If
// some servers fail, the others' are returned beside the joined errors.
func (cl *Client) Version(ctx context.Context) (map[string]string, error) {
	out := make(map[string]string)
	err := cl.each(ctx, verbVersion, "", func(s *server, o *op) {
		out[s.name] = strings.TrimPrefix(o.extras.line, "VERSION ")
	})
	return out, err
}

// Stats returns each server's statistics, by its address as given to [New]:
// without args the general ones, else those of a group such as "items" or
// "settings" (protocol.txt, "Statistics"). If some servers fail, the others'
// are returned beside the joined errors.
func (cl *Client) Stats(ctx context.Context, args ...string) (map[string]map[string]string, error) {
	var line strings.Builder
	if err := checkStats(args); err != nil {
		return nil, &OpError{Op: verbStats.String(), Outcome: NotSent, Err: err}
	}
	for i, a := range args {
		if err := checkKey(a); err != nil { // the same characters would break the line
			why := strings.TrimPrefix(err.Error(), ErrKey.Error()+": ")
			return nil, &OpError{
				Op: verbStats.String(), Outcome: NotSent,
				Err: fmt.Errorf("%w: number %d: %s", ErrArgument, i, why),
			}
		}
		line.WriteString(" " + a)
	}
	out := make(map[string]map[string]string)
	err := cl.each(ctx, verbStats, line.String(), func(s *server, o *op) {
		if out[s.name] = o.extras.stats; out[s.name] == nil {
			out[s.name] = make(map[string]string)
		}
	})
	return out, err
}

// each carries an operation out on all servers at once and calls got, one call
// at a time, for each reply.
func (cl *Client) each(ctx context.Context, v verb, args string, got func(*server, *op)) error {
	if err := cl.usable(ctx); err != nil {
		return &OpError{Op: v.String(), Outcome: NotSent, Err: err}
	}
	var (
		mu   sync.Mutex
		errs = make([]error, len(cl.servers))
		wg   sync.WaitGroup
	)
	for i, srv := range cl.servers {
		wg.Go(func() {
			o, err := cl.take(ctx, v, "")
			if err == nil {
				if v == verbStats {
					o.extra().args = args
				}
				err = cl.do(ctx, cl.deadline(ctx), srv, o)
			}
			if err != nil {
				errs[i] = err
				return
			}
			mu.Lock()
			got(srv, o)
			mu.Unlock()
			errs[i] = o.finish(srv)
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}
