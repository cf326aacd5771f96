package secure_test

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client/transport"
	"github.com/memring/memring/client/transport/secure"
)

// A record has whole requests, or is one of a request that is longer than a record:
// see queue.
func TestRecordsEndWhereRequestsDo(t *testing.T) {
	for name, inner := range inners {
		t.Run(name, func(t *testing.T) {
			cert := selfSigned(t)
			records := make(chan []byte, 100)
			script := func(nc net.Conn) {
				defer close(records)
				s := tls.Server(nc, &tls.Config{Certificates: []tls.Certificate{cert}})
				for buf := make([]byte, 1<<20); ; {
					n, err := s.Read(buf) // of one record, never of more
					if err != nil {
						return
					}
					records <- bytes.Clone(buf[:n])
				}
			}
			talk(t, inner(t), script, func(e *secure.Engine, c transport.Conn, h *taker) {
				var ends []int // of the requests
				var sent []byte
				for i, size := range []int{10, 5000, 9000, 3000, 16 << 10, 1, 15 << 10, 20_000, 20_000, 40, 100_000, 7, 16_000, 16_000} {
					head, body := fmt.Appendf(nil, "%d ", i), bytes.Repeat([]byte{byte('a' + i)}, size)
					_, err := c.Send(head, body, []byte("\r\n"), nil)
					require.NoError(t, err)
					if i == 2 { // and one that is taken back, from in front of another
						_, err = c.Send([]byte("gone"), nil, nil, nil)
						require.NoError(t, err)
						_, err = c.Send([]byte("gone too"), nil, nil, nil)
						require.NoError(t, err)
						require.True(t, c.Retract(4, 8))
						require.True(t, c.Retract(8, 0))
					}
					sent = append(append(append(sent, head...), body...), "\r\n"...)
					ends = append(ends, len(sent))
				}
				// There is no reply: the wait is only there for the requests to be sent.
				for at, begin := 0, 0; at < len(sent); {
					_ = e.Wait(h.w, []transport.Conn{c}, time.Now().Add(time.Millisecond), nil)
					for len(records) > 0 {
						r := <-records
						require.Equal(t, string(sent[at:at+len(r)]), string(r))
						first := begin
						at += len(r)
						for len(ends) > 0 && ends[0] <= at {
							begin, ends = ends[0], ends[1:]
						}
						if begin < at { // it ends within a request, so it must have nothing of those before
							require.Equal(t, first, begin, "the record has the end of another request")
						} else if first < at-len(r) { // it is the last one of a long request
							require.Len(t, r, begin-(at-len(r)))
						}
					}
				}
			})
		})
	}
}
