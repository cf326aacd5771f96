package secure_test

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"crypto/tls"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client/transport"
	"github.com/memring/memring/client/transport/secure"
)

// A sealer writes a server's TLS 1.3 records by itself, since crypto/tls never asks
// for new keys (RFC 8446, sections 5.2, 5.3, 7.1 and 7.2; the suite is
// TLS_AES_128_GCM_SHA256).
type sealer struct {
	t      *testing.T
	secret []byte
	seq    uint64
}

const (
	typeHandshake = 22
	typeData      = 23
)

// keyUpdate demands an answer: update_requested.
var keyUpdate = []byte{24, 0, 0, 1, 1}

func (s *sealer) expand(label string, n int) []byte {
	label = "tls13 " + label
	info := binary.BigEndian.AppendUint16(nil, uint16(n))
	info = append(append(append(info, byte(len(label))), label...), 0)
	b, err := hkdf.Expand(sha256.New, s.secret, string(info), n)
	require.NoError(s.t, err)
	return b
}

// seal returns a record.
func (s *sealer) seal(kind byte, content []byte) []byte {
	block, err := aes.NewCipher(s.expand("key", 16))
	require.NoError(s.t, err)
	aead, err := cipher.NewGCM(block)
	require.NoError(s.t, err)
	nonce := s.expand("iv", 12)
	for i, b := range binary.BigEndian.AppendUint64(nil, s.seq) {
		nonce[4+i] ^= b
	}
	s.seq++
	plain := append(bytes.Clone(content), kind)
	head := binary.BigEndian.AppendUint16([]byte{typeData, 3, 3}, uint16(len(plain)+aead.Overhead()))
	return aead.Seal(head, nonce, plain, head)
}

// update is what follows a KeyUpdate.
func (s *sealer) update() { s.secret, s.seq = s.expand("traffic upd", len(s.secret)), 0 }

// sealing makes the server's handshake and takes its writing over.
func sealing(t *testing.T, nc net.Conn, cert tls.Certificate) (*tls.Conn, *sealer) {
	var log bytes.Buffer
	srv := tls.Server(nc, &tls.Config{Certificates: []tls.Certificate{cert}, KeyLogWriter: &log, SessionTicketsDisabled: true})
	require.NoError(t, srv.Handshake())
	if suite := srv.ConnectionState().CipherSuite; suite != tls.TLS_AES_128_GCM_SHA256 {
		t.Skipf("this machine prefers %s, which this test can't write", tls.CipherSuiteName(suite))
	}
	for line := range strings.Lines(log.String()) {
		if f := strings.Fields(line); f[0] == "SERVER_TRAFFIC_SECRET_0" {
			secret, err := hex.DecodeString(f[2])
			require.NoError(t, err)
			return srv, &sealer{t: t, secret: secret}
		}
	}
	require.FailNow(t, "no secret was logged")
	return nil, nil
}

// A taker is a Handler that takes all there is.
type taker struct {
	w   *transport.Waiter
	mu  sync.Mutex
	got []byte
	end chan error
}

func (h *taker) Received(window []byte) (int, []byte, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.got = append(h.got, window...)
	h.w.Signal()
	return len(window), nil, nil
}

func (h *taker) Landed(int) ([]byte, error) { return nil, nil }

func (h *taker) Closed(err error) {
	h.w.Signal()
	h.end <- err
}

func (h *taker) has(n int) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.got) >= n
}

// talk runs script as the server, and a client that is connected to it.
func talk(t *testing.T, inner secure.Inner, script func(net.Conn), client func(e *secure.Engine, c transport.Conn, h *taker)) {
	l := listen(t, "tcp")
	var wg sync.WaitGroup
	wg.Go(func() {
		nc, err := l.Accept()
		if err == nil {
			script(nc)
			_ = nc.Close()
		}
	})
	e := secure.New(inner, func(string, string) (*tls.Config, error) {
		return &tls.Config{InsecureSkipVerify: true}, nil
	})
	h := &taker{w: new(transport.Waiter), end: make(chan error, 1)}
	h.w.Init()
	c, err := e.Dial(t.Context(), "tcp", l.Addr().String(), h)
	require.NoError(t, err)
	client(e, c, h)
	require.NoError(t, e.Close())
	require.NoError(t, l.Close())
	wg.Wait()
}

// A server that demands new keys in the midst of its replies gets its answer in front
// of the next request, and all is understood in both directions, however the records
// are cut on their way.
func TestKeyUpdate(t *testing.T) {
	cert := selfSigned(t)
	for name, inner := range inners {
		for _, cut := range []int{1, 7, 1 << 20} {
			t.Run(fmt.Sprint(name, "/", cut), func(t *testing.T) {
				const rounds = 5
				server := func(nc net.Conn) {
					srv, s := sealing(t, nc, cert)
					for i := range rounds {
						request := make([]byte, len("request 0"))
						if _, err := io.ReadFull(srv, request); err != nil || string(request) != fmt.Sprint("request ", i) {
							t.Errorf("server: %q, %v", request, err)
							return
						}
						reply := s.seal(typeData, []byte("be"))
						reply = append(reply, s.seal(typeHandshake, keyUpdate)...)
						s.update()
						reply = append(reply, s.seal(typeData, []byte("fore"))...)
						for len(reply) > 0 {
							n := min(cut, len(reply))
							_, _ = nc.Write(reply[:n])
							reply = reply[n:]
						}
					}
					_, _ = io.Copy(io.Discard, srv)
				}
				talk(t, inner(t), server, func(e *secure.Engine, c transport.Conn, h *taker) {
					for i := range rounds {
						_, err := c.Send([]byte(fmt.Sprint("request ", i)), nil, nil, nil)
						require.NoError(t, err)
						for !h.has(6 * (i + 1)) {
							require.NoError(t, e.Wait(h.w, []transport.Conn{c}, time.Now().Add(20*time.Second), nil))
						}
					}
					require.Equal(t, strings.Repeat("before", rounds), string(h.got))
				})
			})
		}
	}
}

// A server that demands new keys without end can't fill the memory with answers.
func TestKeyUpdatesWithoutEnd(t *testing.T) {
	cert := selfSigned(t)
	const rounds = 4000
	for name, inner := range inners {
		t.Run(name, func(t *testing.T) {
			server := func(nc net.Conn) {
				srv, s := sealing(t, nc, cert)
				for range rounds {
					flood := s.seal(typeHandshake, keyUpdate)
					s.update()
					_, _ = nc.Write(append(flood, s.seal(typeData, []byte("x"))...))
				}
				_, _ = io.Copy(io.Discard, srv)
			}
			talk(t, inner(t), server, func(e *secure.Engine, c transport.Conn, h *taker) {
				var end error
				for end == nil { // it never sends
					require.NoError(t, e.Wait(h.w, nil, time.Now().Add(20*time.Second), nil))
					select {
					case end = <-h.end:
					default:
					}
				}
				require.ErrorContains(t, end, "lets no request through")
				require.True(t, h.has(1000), "some of them are nothing unusual")
			})
		})
	}
}
