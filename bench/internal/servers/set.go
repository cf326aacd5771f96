package servers

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/memring/memring/bench/internal/cases"
	"github.com/memring/memring/bench/internal/standin"
)

// Set is all the servers of a run.
type Set struct {
	dir  string
	byID map[id]*Server
	// Version is memcached's; empty if no case needs it.
	Version string
}

type id struct {
	network string
	delay   time.Duration
	faults  cases.Faults
}

// maxSocketPath is what a UNIX socket's path may be on the smallest system (sun_path of macOS: 104).
const maxSocketPath = 90

// StartSet starts what the cases need. The error handler fail is called when one dies later.
// Whatever is returned needs Close, also along with an error.
func StartSet(ctx context.Context, exe string, port int, all []cases.Case, fail func(error)) (*Set, error) {
	s := &Set{byID: map[id]*Server{}}
	var err error
	if s.dir, err = socketDir(); err != nil {
		return s, err
	}
	sizes := map[id]map[int]bool{}
	for _, c := range all {
		if c.Network == cases.NoNetwork {
			continue
		}
		k := idOf(c)
		if sizes[k] == nil {
			sizes[k] = map[int]bool{}
		}
		sizes[k][c.Size] = true
	}
	memcached := ""
	for k, of := range sizes {
		socket := filepath.Join(s.dir, fmt.Sprintf("%d.sock", len(s.byID)))
		var server *Server
		switch {
		case k.delay > 0:
			for size := range of { // all the stand-in's cases have one size
				server, err = Standin(ctx, exe, k.network, socket, standin.Options{Size: size, Delay: k.delay, Faults: k.faults})
			}
		default:
			if memcached == "" {
				if memcached, s.Version, err = FindMemcached(); err != nil {
					return s, err
				}
			}
			if k.network == "unix" {
				server, err = MemcachedUnix(ctx, exe, memcached, socket)
			} else {
				server, err = MemcachedTCP(ctx, exe, memcached, port)
			}
		}
		if err != nil {
			return s, err
		}
		s.byID[k] = server
		go func() {
			<-server.Done()
			fail(server.Death())
		}()
		if k.delay == 0 {
			for size := range of {
				if err := Seed(server.Network, server.Addr, []int{size}); err != nil {
					return s, fmt.Errorf("%s: %w", server.Name, err)
				}
			}
		}
	}
	return s, nil
}

func socketDir() (string, error) {
	dir, err := os.MkdirTemp("", "memring-bench-")
	if err == nil && len(dir) > maxSocketPath {
		if err = os.Remove(dir); err == nil {
			dir, err = os.MkdirTemp("/tmp", "memring-bench-")
		}
	}
	return dir, err
}

// Addr returns where the server of a case is, if it has one.
func (s *Set) Addr(c cases.Case) string {
	if server := s.byID[idOf(c)]; server != nil {
		return server.Addr
	}
	return ""
}

func idOf(c cases.Case) id { return id{c.Network, c.Delay, c.Faults} }

// Dead tells of a server that has died, or returns nil.
func (s *Set) Dead() error {
	for _, server := range s.byID {
		select {
		case <-server.Done():
			return server.Death()
		default:
		}
	}
	return nil
}

// Close ends the servers.
func (s *Set) Close() error {
	for _, server := range s.byID {
		server.Stop()
	}
	if s.dir == "" {
		return nil
	}
	return os.RemoveAll(s.dir)
}
