//go:build !linux

package ring

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/memring/memring/client/transport"
)

// Engine is the io_uring engine. It exists on Linux only.
type Engine struct{}

var _ transport.Engine = (*Engine)(nil)

// New returns an error that matches [errors.ErrUnsupported].
func New() (*Engine, error) {
	return nil, fmt.Errorf("ring: io_uring does not exist on %s: %w", runtime.GOOS, errors.ErrUnsupported)
}

// Dial returns [errors.ErrUnsupported].
func (*Engine) Dial(context.Context, string, string, transport.Handler) (transport.Conn, error) {
	return nil, errors.ErrUnsupported
}

// Wait returns [errors.ErrUnsupported].
func (*Engine) Wait(*transport.Waiter, []transport.Conn, time.Time, <-chan struct{}) error {
	return errors.ErrUnsupported
}

// Wake does nothing.
func (*Engine) Wake(*transport.Waiter) {}

// Close does nothing.
func (*Engine) Close() error { return nil }

// Degraded returns nil.
func (*Engine) Degraded() error { return nil }

// Counters returns zeros.
func (*Engine) Counters() transport.Counters { return transport.Counters{} }
