package client

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client/transport"
)

// A keeper is an engine and a connection that keeps in sight what it was sent, until
// it is scrubbed, and answers line by line.
type keeper struct {
	engine
	transport.Conn
	h       transport.Handler
	replies []string
	sent    []string
	kept    []byte
}

func (k *keeper) Dial(_ context.Context, _, _ string, h transport.Handler) (transport.Conn, error) {
	k.h = h
	return k, nil
}

func (k *keeper) Send(head, _, _ []byte, _ *transport.Loan) (int, error) {
	k.sent = append(k.sent, string(head))
	k.kept = append(k.kept, head...)
	return len(head), nil
}

func (k *keeper) Wait(*transport.Waiter, []transport.Conn, time.Time, <-chan struct{}) error {
	reply := k.replies[0]
	k.replies = k.replies[1:]
	_, _, err := k.h.Received([]byte(reply))
	return err
}

func (k *keeper) Scrub()       { clear(k.kept) }
func (k *keeper) Close() error { return nil }

// What a connection keeps of a credential is overwritten, whether the server has
// accepted it or not.
func TestCredentialIsScrubbed(t *testing.T) {
	for _, reply := range []string{"STORED\r\n", "CLIENT_ERROR authentication failure\r\n"} {
		cl := rawClient(t, &Config{Engine: Poll, Credentials: func(context.Context, string) (Credential, error) {
			return Credential{User: "user", Password: "secret"}, nil
		}}, "127.0.0.1:1")
		k := &keeper{replies: []string{"CLIENT_ERROR unauthenticated\r\n", reply}}
		p := &pool{srv: cl.servers[0], eng: &engineSlot{engine: k}}
		_, err := p.open(t.Context())
		if reply == "STORED\r\n" {
			require.NoError(t, err)
		} else {
			require.ErrorIs(t, err, ErrAuth)
		}
		require.Equal(t, []string{"version\r\n", "set auth 0 0 11\r\nuser secret\r\n"}, k.sent)
		require.Equal(t, make([]byte, len(k.kept)), k.kept)
	}
}
