//go:build !linux

package standin

import (
	"net"
	"time"
)

// Prepare has nothing to do where timers can't be made exact.
func Prepare() {}

// serve answers one connection, as exactly as Go's timers allow. It closes the connection.
func serve(conn net.Conn, size int, delay time.Duration) error {
	type reply struct {
		due   time.Time
		bytes []byte
	}
	replies := make(chan reply, 4096)
	defer close(replies)
	go func() {
		defer conn.Close()
		for r := range replies {
			time.Sleep(time.Until(r.due))
			_, _ = conn.Write(r.bytes) // a dead connection ends the reads as well
		}
	}()
	session := NewSession(size)
	buf := make([]byte, 64<<10)
	for {
		n, err := conn.Read(buf)
		if err != nil {
			return nil // the client has gone
		}
		due := time.Now().Add(delay)
		if err := session.Feed(buf[:n], func(b []byte) {
			replies <- reply{due, append([]byte(nil), b...)}
		}); err != nil {
			return err
		}
	}
}
