package standin

import (
	"errors"
	"fmt"
	"net"
	"os"
	"time"
)

// Serve answers the listener's connections until it is closed.
func Serve(l net.Listener, size int, delay time.Duration) error {
	for {
		conn, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			return err
		}
		go func() {
			if err := serve(conn, size, delay); err != nil {
				fmt.Fprintln(os.Stderr, "stand-in: a connection ended:", err)
			}
		}()
	}
}
