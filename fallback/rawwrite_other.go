//go:build !unix

package fallback

import (
	"errors"
	"net"
)

// A rawWriter can't be had here: Windows' sockets have no write that fails
// rather than wait. All writes go through flushers.
type rawWriter struct{}

func newRawWriter(net.Conn) *rawWriter { return nil }

func (*rawWriter) try([][]byte) (int, error) { return 0, errors.ErrUnsupported }

func (*rawWriter) ended() bool { return false }
