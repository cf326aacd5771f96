package worker

import (
	"context"
	"errors"
	"net"
	"net/http"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/memring/memring/bench/internal/cases"
	"github.com/memring/memring/bench/internal/peers"
)

// service answers each HTTP request with a value that it gets for it, as much of a service as shows what a
// client costs in one.
type service struct {
	client peers.Client
	c      cases.Case
	keys   []string
	next   atomic.Uint64
	failed atomic.Pointer[error]
	server http.Server
	addr   string
	before meters
	at     time.Time
}

func openService(spec Spec, client peers.Client) (*service, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &service{client: client, c: spec.Case, keys: newData(spec.Case).keys, addr: l.Addr().String()}
	s.server.Handler = s
	s.server.ReadHeaderTimeout = time.Minute
	go func() {
		if err := s.server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			s.fail(err)
		}
	}()
	_, err = s.slice(Command{})
	return s, err
}

func (s *service) fail(err error) { s.failed.CompareAndSwap(nil, &err) }

// ServeHTTP implements [http.Handler].
func (s *service) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	key := s.keys[s.next.Add(1)%uint64(len(s.keys))]
	value, err := s.client.Get(key)
	if err == nil && !cases.Right(value, key, s.c.Size) {
		err = &peers.WrongValueError{Client: "the client", Key: key}
	}
	if err != nil {
		s.fail(err)
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	_, _ = w.Write(value) // whoever doesn't read it, wrk, notices
}

// slice tells what the process has used since the last call.
func (s *service) slice(Command) (Sample, error) {
	if err := s.failed.Load(); err != nil {
		return Sample{}, *err
	}
	runtime.GC() // each slice begins with the same heap
	now, err := readMeters(s.client)
	sample := Sample{
		CPU: now.cpu - s.before.cpu, Mallocs: now.mallocs - s.before.mallocs, Wall: time.Since(s.at),
		Enters: now.enters - s.before.enters, HasEnters: now.hasEnters,
	}
	s.before, s.at = now, time.Now()
	return sample, err
}

func (s *service) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = s.server.Shutdown(ctx) // the process ends with it
	_ = s.client.Close()
}
