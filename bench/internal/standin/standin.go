package standin

import (
	"errors"
	"fmt"
	"net"
	"os"
	"sync/atomic"
	"time"

	"github.com/memring/memring/bench/internal/cases"
)

// Options say what a server answers, and when.
type Options struct {
	Size   int           // of every value
	Delay  time.Duration // from a request's arrival to its reply
	Faults cases.Faults  // Stall and StallAt are the client's to ask for, see [Answer]
}

// Server is what the connections share. Its times are counted from began.
type Server struct {
	o       Options
	began   time.Time
	conns   atomic.Uint64 // accepted so far
	gets    atomic.Uint64
	stalled atomic.Int64 // no reply before this time
}

// NewServer returns a server that has seen nothing yet.
func NewServer(o Options) *Server { return &Server{o: o, began: time.Now()} }

// due says when the answer to a request that came at arrived may be sent. What stands before it on its
// connection goes first in any case.
func (s *Server) due(arrived time.Duration, a Answer) time.Duration {
	if a.Admin {
		if a.Stall > 0 {
			s.stalled.Store(int64(arrived + a.Stall))
		}
		return arrived
	}
	due := arrived + s.o.Delay
	if n := s.o.Faults.OneIn; a.Get && n > 0 && s.gets.Add(1)%uint64(n) == 0 {
		due += s.o.Faults.Late
	}
	return max(due, time.Duration(s.stalled.Load()))
}

// Serve answers the listener's connections until it is closed.
func (s *Server) Serve(l net.Listener) error {
	for {
		conn, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			return err
		}
		s.conns.Add(1)
		go func() {
			if err := s.serve(conn); err != nil {
				fmt.Fprintln(os.Stderr, "stand-in: a connection ended:", err)
			}
		}()
	}
}
