package secure

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/memring/memring/client/transport"
)

// The receiving side. crypto/tls keeps a record that has come in part, so each window
// is used up, and what is decrypted has a window of its own.

// maxEarly bounds what may come during the handshake before it is looked at.
const maxEarly = 1 << 20

var errEarly = errors.New("server sends far more than a TLS handshake")

// Received implements [transport.Handler].
func (c *conn) Received(ciphertext []byte) (used int, into []byte, err error) {
	c.reading.Lock()
	defer c.reading.Unlock()
	if !c.ready {
		if len(c.early) > maxEarly {
			return 0, nil, errEarly
		}
		c.early = append(c.early, ciphertext...)
		c.news.Signal()
		return len(ciphertext), nil, nil
	}
	if err := c.decrypt(ciphertext); err != nil {
		_ = c.die(err)
		return 0, nil, err
	}
	return len(ciphertext), nil, nil
}

// Landed implements [transport.Handler]. Nothing lands below.
func (c *conn) Landed(int) (into []byte, err error) { return nil, nil }

// decrypt gives h what is in the ciphertext, and in what has come before.
func (c *conn) decrypt(ciphertext []byte) error {
	c.wire.in = ciphertext
	fresh := false // something in the window has not been shown
	for {
		if c.gone.Load() {
			return nil // closed, by a Handler perhaps: it gets no more
		}
		n, err := c.tls.Read(c.room())
		c.heard = c.heard || n > 0
		switch {
		case n == 0:
		case len(c.into) > 0:
			if err := c.landed(n); err != nil {
				return err
			}
		default:
			c.have += n
			fresh = true
		}
		if fresh && (err != nil || c.have == len(c.window)) {
			fresh = false
			if err := c.deliver(); err != nil {
				return err
			}
		}
		if err != nil {
			c.rest()
			return c.readError(err)
		}
	}
}

// room is where the next bytes go.
func (c *conn) room() []byte {
	if len(c.into) > 0 {
		return c.into
	}
	if c.window == nil {
		c.window = windows.Get().(*window)
	}
	return c.window[c.have:]
}

// rest gives the window back if nothing is in it.
func (c *conn) rest() {
	if c.have == 0 && c.window != nil {
		windows.Put(c.window)
		c.window = nil
	}
	// And what is left to answer is left to the next flush.
	if c.wire.written() {
		c.dirty.Store(true)
	}
}

// deliver has h use the window.
func (c *conn) deliver() error {
	used, into, err := c.h.Received(c.window[:c.have:c.have])
	switch {
	case err != nil:
		return err
	case used == c.have:
		c.have, c.into = 0, into
	case used == 0 && c.have == len(c.window):
		return transport.ErrStuck
	default:
		c.have = copy(c.window[:], c.window[used:c.have])
	}
	return nil
}

// landed tells h that n bytes have come to into.
func (c *conn) landed(n int) (err error) {
	c.into, err = c.h.Landed(n)
	return err
}

// readError gives the error of a read the meaning that the seam documents: nil if
// there is only nothing to read. crypto/tls returns io.EOF for a close_notify.
func (c *conn) readError(err error) error {
	switch {
	case err == errDry: //nolint:errorlint // crypto/tls hands it through as it is
		return nil
	case errors.Is(err, io.EOF):
		return transport.ErrEOF
	case c.wire.overflown():
		err = errTooMuch
	}
	if err = fmt.Errorf("receive: %w", err); !c.heard {
		err = c.asked.verdict(err)
	}
	return err
}

// Divert implements [transport.Conn]. The memory of a landing is written to within a
// call of Received alone, which reading keeps away, so the landing ends here and now.
func (c *conn) Divert() {
	c.reading.Lock()
	defer c.reading.Unlock()
	if len(c.into) == 0 || c.end != nil {
		return
	}
	if err := c.landed(0); err != nil {
		_ = c.die(err)
		_ = c.on[0].Close()
	}
}

// Closed implements [transport.Handler].
func (c *conn) Closed(err error) {
	c.reading.Lock()
	defer c.reading.Unlock()
	first := c.die(err)
	if errors.Is(err, transport.ErrClosed) || errors.Is(first, transport.ErrClosed) {
		err = first // we have closed it: why, or before the server took leave in turn
	}
	if !c.heard && c.ready {
		err = c.asked.verdict(err)
	}
	c.end = err
	if !c.ready {
		c.news.Signal()
		return
	}
	c.into, c.have = nil, 0
	c.rest()
	c.e.forget(c)
	c.h.Closed(err)
}

// takeEarly returns what has come during the handshake, or why nothing will.
func (c *conn) takeEarly() ([]byte, error) {
	c.reading.Lock()
	defer c.reading.Unlock()
	if len(c.early) == 0 {
		return nil, c.end
	}
	b := c.early
	c.early = nil
	return b, nil
}

// open has what comes delivered to h, beginning with what has come already.
func (c *conn) open() error {
	c.reading.Lock()
	defer c.reading.Unlock()
	if c.end != nil {
		return c.end
	}
	c.e.add(c)
	c.ready = true
	first := slices.Concat(c.wire.in, c.early)
	c.early = nil
	// Also if there is nothing: crypto/tls may have read on behind the handshake.
	if err := c.decrypt(first); err != nil {
		_ = c.die(err)
		_ = c.on[0].Close() // Closed follows
	}
	return nil
}
