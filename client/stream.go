package client

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"github.com/memring/memring/client/internal/direct"
	"github.com/memring/memring/client/transport"
	"github.com/memring/memring/reader"
)

// streamBuffer is what a stream reads ahead, in bytes, and the longest line that it
// takes. The server composes its log lines in 4 KiB.
const streamBuffer = 64 << 10

// stream is a connection that a command has taken over: its replies have no end, or
// one of their own, so they can't be among those of a FIFO. Whoever iterates reads
// it, and what is not read waits in the kernel and in the server. One goroutine
// waits for what ends it from without, and closes the connection: so Client.Close
// leaves none behind.
type stream struct {
	cl  *Client
	ctx context.Context
	l   direct.Line
	nc  net.Conn
	in  *bufio.Reader

	heard bool          // the server has said something
	lines int           // that Next has returned
	bound time.Duration // how long a read may take; 0: for ever
	over  chan struct{} // closed by Close
	gone  chan struct{} // closed when the connection is
}

// openDirect is [direct.Open].
func openDirect(ctx context.Context, client any, l direct.Line) (direct.Stream, error) {
	cl := client.(*Client)
	s := &stream{cl: cl, ctx: ctx, l: l, over: make(chan struct{}), gone: make(chan struct{})}
	if err := cl.usable(ctx); err != nil {
		return nil, s.error(err, NotSent)
	}
	line, err := commandLine(l.Words)
	if err != nil {
		return nil, &OpError{Op: l.Op, Outcome: NotSent, Err: err}
	}
	if err := s.dial(); err != nil {
		return nil, s.error(err, NotSent)
	}
	if !cl.spawn(s.guard) {
		_ = s.nc.Close()
		return nil, s.error(ErrClosed, NotSent)
	}
	_ = s.nc.SetWriteDeadline(cl.deadline(ctx)) // if it fails the write does
	if _, err := io.WriteString(s.nc, line+"\r\n"); err != nil {
		s.Close()
		return nil, s.error(s.explain(err), Unknown)
	}
	s.in = bufio.NewReaderSize(s, streamBuffer)
	return s, nil
}

// dial connects, within the time that a call may take.
func (s *stream) dial() (err error) {
	ctx := s.ctx
	if d := s.cl.deadline(ctx); !d.IsZero() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, d)
		defer cancel()
	}
	s.nc, err = s.cl.dialRaw(ctx, s.cl.servers[s.l.Server])
	return err
}

func (s *stream) guard() {
	select {
	case <-s.over:
	case <-s.ctx.Done():
	case <-s.cl.ctx.Done():
	}
	_ = s.nc.Close()
	close(s.gone)
}

// Close returns when nothing of the stream is left.
func (s *stream) Close() {
	close(s.over)
	<-s.gone
}

// Read is for the buffer: each read is a wait of its own.
func (s *stream) Read(p []byte) (int, error) {
	var end time.Time
	if s.bound > 0 {
		end = time.Now().Add(s.bound)
	}
	if err := s.nc.SetReadDeadline(end); err != nil {
		return 0, err
	}
	n, err := s.nc.Read(p)
	s.heard = s.heard || n > 0
	return n, err
}

// Next returns the next line.
func (s *stream) Next(bound bool) ([]byte, error) {
	if err := s.ended(); err != nil { // although lines may have come already
		return nil, s.error(err, Unknown)
	}
	if s.bound = 0; bound {
		s.bound = s.cl.cfg.StallLimit
	}
	line, err := s.in.ReadSlice('\n')
	if err != nil {
		return nil, s.error(s.explain(err), Unknown)
	}
	line = line[:len(line)-1]
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	if s.lines++; s.lines == 1 && string(line) == unauthenticated {
		return nil, s.error(fmt.Errorf("%w: %w", ErrUnavailable, errNoCredentials), Answered)
	}
	return line, nil
}

// Pause waits for d, if a wait that has begun then may be so long.
func (s *stream) Pause(begun time.Time, d time.Duration) bool {
	if limit := s.cl.cfg.StallLimit; limit > 0 && time.Since(begun)+d > limit {
		return false
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.gone:
	}
	return true
}

// ended says what has ended the stream from without.
func (s *stream) ended() error {
	switch {
	case s.cl.closed.Load():
		return ErrClosed
	case s.ctx.Err() != nil:
		return contextError(s.ctx)
	}
	return nil
}

// explain is the error of a stream on which reading or writing has failed.
func (s *stream) explain(err error) error {
	if ended := s.ended(); ended != nil {
		return ended
	}
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return ErrTimeout
	case errors.Is(err, bufio.ErrBufferFull):
		return &reader.DesyncError{Reason: "line longer than any of the server's"}
	case errors.Is(err, io.EOF):
		err = transport.ErrEOF
	}
	if !s.heard && !s.cl.greets() && cutOff(err) {
		err = s.cl.wordless(err)
	}
	return fmt.Errorf("%w: %w", ErrConnLost, err)
}

// Fail makes the error of what the server has said.
func (s *stream) Fail(err error) error { return s.error(err, Answered) }

func (s *stream) error(err error, outcome Outcome) error {
	return &OpError{Op: s.l.Op, Server: s.cl.servers[s.l.Server].name, Outcome: outcome, Err: err}
}
