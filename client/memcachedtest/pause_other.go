//go:build !unix

package memcachedtest

import "errors"

// Pause stops the server in its tracks. Not supported here.
func (p *Process) Pause() error { return errors.ErrUnsupported }

// Resume lets a paused server go on. Not supported here.
func (p *Process) Resume() error { return errors.ErrUnsupported }
