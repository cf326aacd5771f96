package memcachedtest

import (
	"context"
	"slices"
	"sync"
)

const defaultRecordLimit = 10_000

// recorder keeps what has come in, and wakes those who wait for it.
type recorder struct {
	mu              sync.Mutex
	limit           int
	requests        []Request
	total           int
	bytes           int64
	unauthenticated []string
	changed         chan struct{} // closed at the next change; nil if nobody waits
}

func (r *recorder) init(limit int) {
	switch {
	case limit == 0:
		limit = defaultRecordLimit
	case limit < 0:
		limit = 0
	}
	r.limit = limit
}

func (r *recorder) add(req Request) {
	req.Body = nil
	r.mu.Lock()
	defer r.mu.Unlock()
	r.total++
	if len(r.requests) < r.limit {
		r.requests = append(r.requests, req)
	}
	r.wake()
}

func (r *recorder) read(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.bytes += int64(n)
	r.wake()
}

func (r *recorder) notify() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.wake()
}

func (r *recorder) wake() {
	if r.changed != nil {
		close(r.changed)
		r.changed = nil
	}
}

func (r *recorder) next() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.changed == nil {
		r.changed = make(chan struct{})
	}
	return r.changed
}

// Requests are the requests that came, over all connections in order of
// arrival, up to the record limit and without their bodies.
func (s *Server) Requests() []Request {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	return slices.Clone(s.log.requests)
}

// RequestCount is the number of requests that came, whole.
func (s *Server) RequestCount() int {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	return s.log.total
}

// BytesRead is the number of bytes that came, so that a test can show that not
// even part of a request was sent.
func (s *Server) BytesRead() int64 {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	return s.log.bytes
}

// ConnCount is the number of connections that were ever accepted.
func (s *Server) ConnCount() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.accepted
}

// OpenConns is the number of connections open now.
func (s *Server) OpenConns() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns)
}

// Wait returns once cond holds, which it asks again whenever bytes or a request
// came, or a connection came or went. It saves tests from sleeping:
//
//	srv.Wait(ctx, func() bool { return srv.RequestCount() == 3 })
func (s *Server) Wait(ctx context.Context, cond func() bool) error {
	for {
		changed := s.log.next()
		if cond() {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
