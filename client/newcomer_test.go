package client

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client/transport"
)

// A keeper is an engine and a connection that sends when it is waited for, keeps at most
// that many bytes of memory afterwards, and answers line by line.
type keeper struct {
	engine
	transport.Conn
	h       transport.Handler
	replies []string
	most    int
	out     transport.Outbox
	sent    []string
	memory  [][]byte // that this was in
}

func (k *keeper) Dial(_ context.Context, _, _ string, h transport.Handler) (transport.Conn, error) {
	k.h = h
	return k, nil
}

func (k *keeper) Send(head, _, _ []byte, _ *transport.Loan) (int, error) {
	k.out.Append(head, nil, nil, nil)
	return k.out.Len(), nil
}

func (k *keeper) Wait(*transport.Waiter, []transport.Conn, time.Time, <-chan struct{}) error {
	b := k.out.Next()
	k.sent, k.memory = append(k.sent, string(b)), append(k.memory, b)
	k.out.Left(len(b))
	k.out.Reset(k.most)
	reply := k.replies[0]
	k.replies = k.replies[1:]
	_, _, err := k.h.Received([]byte(reply))
	return err
}

func (k *keeper) Scrub()       { k.out.Scrub() }
func (k *keeper) Close() error { return nil }

// What a connection had of a credential is overwritten, whether the server has
// accepted it or not, and whether the connection keeps that memory or not.
func TestCredentialIsScrubbed(t *testing.T) {
	for _, reply := range []string{"STORED\r\n", "CLIENT_ERROR authentication failure\r\n"} {
		for _, most := range []int{0, 1 << 10} {
			cl := rawClient(t, &Config{Engine: Poll, Credentials: func(context.Context, string) (Credential, error) {
				return Credential{User: "user", Password: "secret"}, nil
			}}, "127.0.0.1:1")
			k := &keeper{most: most, replies: []string{"CLIENT_ERROR unauthenticated\r\n", reply}}
			p := &pool{srv: cl.servers[0], eng: &engineSlot{engine: k}}
			_, err := p.open(t.Context())
			if reply == "STORED\r\n" {
				require.NoError(t, err)
			} else {
				require.ErrorIs(t, err, ErrAuth)
			}
			require.Equal(t, []string{"version\r\n", "set auth 0 0 11\r\nuser secret\r\n"}, k.sent)
			for _, b := range k.memory {
				require.Equal(t, make([]byte, len(b)), b)
			}
		}
	}
}
