//go:build !linux

package standin

import (
	"net"
	"time"
)

// Prepare has nothing to do where timers can't be made exact.
func Prepare() {}

// serve answers one connection, as exactly as Go's timers allow. It closes the connection.
func (s *Server) serve(conn net.Conn) error {
	type reply struct {
		due   time.Duration // since s.began
		bytes []byte
	}
	replies := make(chan reply, 4096)
	defer close(replies)
	go func() {
		defer conn.Close()
		for r := range replies {
			time.Sleep(r.due - time.Since(s.began))
			_, _ = conn.Write(r.bytes) // a dead connection ends the reads as well
		}
	}()
	session := NewSession(s.o.Size, s.conns.Load)
	buf := make([]byte, 64<<10)
	for {
		n, err := conn.Read(buf)
		if err != nil {
			return nil // the client has gone
		}
		arrived := time.Since(s.began)
		if err := session.Feed(buf[:n], func(a Answer) {
			replies <- reply{s.due(arrived, a), append([]byte(nil), a.Reply...)}
		}); err != nil {
			return err
		}
	}
}
