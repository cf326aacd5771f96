package client

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/memring/memring/client/transport"
)

// echoEngine answers every get at once with a 1 KiB value, so that a benchmark
// sees what the client itself costs.
type echoEngine struct {
	h    transport.Handler
	rep  []byte
	tail []byte
}

func (e *echoEngine) Dial(_ context.Context, _, _ string, h transport.Handler) (transport.Conn, error) {
	e.h = h
	return e, nil
}

func (e *echoEngine) Wait(w *transport.Waiter, _ []transport.Conn, _ time.Time, _ <-chan struct{}) error {
	if _, _, err := e.h.Received(e.rep); err != nil {
		return err
	}
	if !w.Take() {
		panic("no reply")
	}
	return nil
}

func (e *echoEngine) Send(head, _, _ []byte, _ *transport.Loan) (int, error) {
	o := head[bytes.LastIndexByte(head, 'O') : len(head)-2]
	e.rep = append(append(append(e.rep[:0], "VA 1024 f0 c123456 kkey:1 "...), o...), e.tail...)
	return len(head), nil
}

func (e *echoEngine) Wake(*transport.Waiter) {}
func (e *echoEngine) Retract(int, int) bool  { return false }
func (e *echoEngine) Divert()                {}
func (e *echoEngine) Ended() bool            { return false }

func (e *echoEngine) Reclaim(*transport.Loan, *transport.Waiter) bool { return true }
func (e *echoEngine) Close() error                                    { return nil }
func (e *echoEngine) Counters() transport.Counters                    { return transport.Counters{} }

func BenchmarkGetAppend(b *testing.B) {
	cl, err := New([]string{"127.0.0.1:1"}, &Config{Engine: Poll})
	if err != nil {
		b.Fatal(err)
	}
	e := &echoEngine{tail: append(append([]byte("\r\n"), make([]byte, 1024)...), "\r\n"...)}
	_ = cl.engines[0].Close()
	cl.engines[0].engine = e
	ctx := context.Background()
	dst := make([]byte, 0, 2048)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := cl.GetAppend(ctx, dst, "key:1"); err != nil {
			b.Fatal(err)
		}
	}
	_ = cl.Close()
}
