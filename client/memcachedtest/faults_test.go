package memcachedtest

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// serverNetworks are the ways to reach an in-process server.
var serverNetworks = []string{"tcp", "unix", "none"}

func connect(t *testing.T, s *Server) net.Conn {
	t.Helper()
	c, err := s.DialContext(t.Context(), "", "")
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	require.NoError(t, c.SetDeadline(time.Now().Add(20*time.Second)))
	return c
}

func send(t *testing.T, c net.Conn, s string) {
	t.Helper()
	_, err := io.WriteString(c, s)
	require.NoError(t, err)
}

func receive(t *testing.T, c net.Conn, want string) {
	t.Helper()
	got := make([]byte, len(want))
	n, err := io.ReadFull(c, got)
	require.Equal(t, want, string(got[:n]))
	require.NoError(t, err)
}

// receiveAll reads until the server closes the connection.
func receiveAll(t *testing.T, c net.Conn, want string) {
	t.Helper()
	got, err := io.ReadAll(c)
	require.NoError(t, err)
	require.Equal(t, want, string(got))
}

func TestFaults(t *testing.T) {
	const request = "ms a 1 O1 k\r\nx\r\nmg a v Oabc k\r\nget a\r\nmn\r\n"
	const r1, r2, r3, r4 = "HD O1 ka\r\n", "VA 1 Oabc ka\r\nx\r\n", "VALUE a 0 1\r\nx\r\nEND\r\n", "MN\r\n"
	// Made anew for each server, since a sequence counts.
	first := func(a ...Action) func() Script { return func() Script { return Sequence(a...) } }
	onA := func(a Action) func() Script { return func() Script { return OnKey("a", a) } }
	onLast := func(a Action) func() Script { return func() Script { return OnCommand("mn", a) } }
	for name, test := range map[string]struct {
		script func() Script
		want   string
		closed bool
	}{
		"none":             {first(), r1 + r2 + r3 + r4, false},
		"missing":          {first(Answer(), Missing()), r1 + r3 + r4, false},
		"unexecuted":       {first(Answer().Unexecuted()), "EN Oabc ka\r\nEND\r\n" + r4, false},
		"twice":            {first(Answer().Twice()), r1 + r1 + r2 + r3 + r4, false},
		"swap":             {first(Answer().Swap()), r2 + r1 + r3 + r4, false},
		"swap a run":       {first(Answer().Swap(), Answer().Swap(), Answer().Swap()), r2 + r1 + r4 + r3, false},
		"swap the last":    {onLast(Answer().Swap()), r1 + r2 + r3, false},
		"wrong opaque":     {onA(Answer().WrongOpaque()), "HD Ox ka\r\n" + "VA 1 Oabx ka\r\nx\r\n" + r3 + r4, false},
		"wrong key":        {onA(Answer().WrongKey()), "HD O1 kx\r\n" + "VA 1 Oabc kx\r\nx\r\n" + "VALUE x 0 1\r\nx\r\nEND\r\n" + r4, false},
		"error line":       {first(ErrorLine("SERVER_ERROR busy")), "SERVER_ERROR busy\r\nEN Oabc ka\r\nEND\r\n" + r4, false},
		"garbage":          {first(Garbage()), "\x01garbage \xff VA 1 HD\r\n" + r2 + r3 + r4, false},
		"instead":          {first(Answer().Instead([]byte("?"))), "?" + r2 + r3 + r4, false},
		"chunks":           {onA(Answer().Chunks(1, 2)), r1 + r2 + r3 + r4, false},
		"truncate":         {first(Answer().Truncate(3)), "HD " + r2 + r3 + r4, false},
		"truncate the end": {first(Answer().Truncate(-1)), r1[:len(r1)-1] + r2 + r3 + r4, false},
		"cut before":       {first(Answer(), Answer().CutAt(0)), r1, true},
		"cut in the value": {first(Answer(), Answer().CutAt(-3)), r1 + r2[:len(r2)-3], true},
		"cut after":        {first(Answer(), Answer().Close()), r1 + r2, true},
		"half close":       {first(Answer(), Answer().HalfClose()), r1 + r2, true},
		"delay":            {first(Answer().Delay(20 * time.Millisecond)), r1 + r2 + r3 + r4, false},
		"chunks and cut":   {onA(Answer().Chunks(1).Gap(time.Millisecond).CutAt(4).Twice()), "HD O", true},
	} {
		t.Run(name, func(t *testing.T) {
			for _, network := range serverNetworks {
				s := NewServer(t, ServerOptions{Network: network, Script: test.script()})
				c := connect(t, s)
				if network == "none" {
					go func() { _, _ = io.WriteString(c, request) }() // a pipe has no buffer, and may be cut
				} else {
					send(t, c, request)
				}
				if test.closed {
					receiveAll(t, c, test.want)
				} else {
					receive(t, c, test.want)
				}
			}
		})
	}
}

func TestStall(t *testing.T) {
	release := make(chan struct{})
	s := NewServer(t, ServerOptions{Script: Sequence(Answer(), Answer().StallAt(2, release))})
	c := connect(t, s)
	send(t, c, "mg a\r\nmg b Oxyz\r\nmg c\r\n")
	receive(t, c, "EN\r\nEN")
	require.NoError(t, s.Wait(t.Context(), func() bool { return s.RequestCount() == 3 }), "the server reads on")
	close(release)
	receive(t, c, " Oxyz\r\nEN\r\n")

	s.SetScript(OnKey("stall", Answer().Stall(nil)))
	send(t, c, "mg stall\r\n")
	require.NoError(t, s.Wait(t.Context(), func() bool { return s.RequestCount() == 4 }))
	require.NoError(t, s.Close(), "a stalled connection does not keep the server")
	receiveAll(t, c, "")
}

func TestReset(t *testing.T) {
	s := NewServer(t, ServerOptions{Script: OnKey("r", Answer().CutAt(0).Reset())})
	c := connect(t, s)
	send(t, c, "mg r\r\n")
	_, err := c.Read(make([]byte, 1))
	require.ErrorIs(t, err, syscall.ECONNRESET)

	c = connect(t, s)
	send(t, c, "mn\r\n")
	receive(t, c, "MN\r\n")
	s.ResetConns()
	_, err = c.Read(make([]byte, 1))
	require.ErrorIs(t, err, syscall.ECONNRESET)
}

func TestHalfClosedServerReadsOn(t *testing.T) {
	s := NewServer(t, ServerOptions{})
	c := connect(t, s)
	send(t, c, "mn\r\n")
	receive(t, c, "MN\r\n")
	s.HalfCloseConns()
	receiveAll(t, c, "")
	send(t, c, "mg a\r\n")
	require.NoError(t, s.Wait(t.Context(), func() bool { return s.RequestCount() == 2 }))
	require.NoError(t, c.Close())
	require.NoError(t, s.Wait(t.Context(), func() bool { return s.OpenConns() == 0 }))
}

func TestConnActions(t *testing.T) {
	actions := []ConnAction{ConnServe, ConnMute, ConnDeaf, ConnClose, ConnReset}
	s := NewServer(t, ServerOptions{OnConnect: func(n int) ConnAction { return actions[n-1] }})
	served, mute, deaf := connect(t, s), connect(t, s), connect(t, s)
	require.NoError(t, s.Wait(t.Context(), func() bool { return s.OpenConns() == 3 }))
	send(t, served, "mg a\r\n")
	receive(t, served, "EN\r\n")
	send(t, mute, "ms a 1\r\nx\r\n")
	require.NoError(t, s.Wait(t.Context(), func() bool { return s.RequestCount() == 2 }))
	send(t, served, "mg a\r\n")
	receive(t, served, "EN\r\n")

	// Nobody reads, so writing comes to a halt.
	require.NoError(t, deaf.SetWriteDeadline(time.Now().Add(50*time.Millisecond)))
	_, err := deaf.Write(make([]byte, 64<<20))
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)

	receiveAll(t, connect(t, s), "")
	c, err := net.Dial("tcp", s.Addr()) // the reset may come while we dial
	if err == nil {
		defer c.Close()
		_, err = c.Read(make([]byte, 1))
	}
	require.ErrorIs(t, err, syscall.ECONNRESET)
	assert.Equal(t, 5, s.ConnCount())

	s.CloseConns()
	receiveAll(t, mute, "")
}

func TestRefuse(t *testing.T) {
	for _, network := range serverNetworks {
		t.Run(network, func(t *testing.T) {
			s := NewServer(t, ServerOptions{Network: network})
			addr := s.Addr()
			c := connect(t, s)
			require.NoError(t, s.Wait(t.Context(), func() bool { return s.OpenConns() == 1 }))
			require.NoError(t, s.Refuse(true))
			require.NoError(t, s.Refuse(true))
			_, err := s.DialContext(t.Context(), "", "")
			require.ErrorIs(t, err, syscall.ECONNREFUSED)
			send(t, c, "mn\r\n")
			receive(t, c, "MN\r\n")
			require.NoError(t, s.Refuse(false))
			require.Equal(t, addr, s.Addr())
			c = connect(t, s)
			send(t, c, "mn\r\n")
			receive(t, c, "MN\r\n")
		})
	}
}

func TestRecords(t *testing.T) {
	var body string
	s := NewServer(t, ServerOptions{Network: "unix", RecordLimit: 2, Script: func(r Request) Action {
		body += string(r.Body)
		return Answer()
	}})
	c := connect(t, s)
	require.NoError(t, s.Wait(t.Context(), func() bool { return s.OpenConns() == 1 }))
	assert.Zero(t, s.BytesRead())
	assert.Empty(t, s.Requests())
	send(t, c, "ms a 2 Oxy q\r\nhi\r\nget a b\r\nmn\r\n")
	receive(t, c, "VALUE a 0 2\r\nhi\r\nEND\r\nMN\r\n")
	assert.Equal(t, "hi", body)
	assert.Equal(t, 3, s.RequestCount())
	assert.EqualValues(t, len("ms a 2 Oxy q\r\nhi\r\nget a b\r\nmn\r\n"), s.BytesRead())
	got := s.Requests()
	require.Len(t, got, 2)
	assert.Equal(t, Request{Conn: 1, Seq: 1, Line: "ms a 2 Oxy q", Command: "ms", Key: "a"}, got[0])
	opaque, ok := got[0].Flag('O')
	assert.True(t, ok)
	assert.Equal(t, "xy", opaque)
	_, ok = got[0].Flag('v')
	assert.False(t, ok)
	assert.Equal(t, []string{"get", "a", "b"}, got[1].Words())
}

func TestTimePassesInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := RunServer(ServerOptions{Network: "none", Script: func(r Request) Action {
			switch r.Key {
			case "slow":
				return Answer().Delay(time.Hour)
			case "late":
				return Answer().Late(time.Hour)
			}
			return Answer()
		}})
		require.NoError(t, err)
		defer func() { require.NoError(t, s.Close()) }()
		c := s.Pipe()
		defer c.Close()
		began := time.Now()
		send(t, c, "ms a 1 T90\r\nx\r\n")
		receive(t, c, "HD\r\n")
		time.Sleep(89 * time.Second)
		send(t, c, "mg a t\r\n")
		receive(t, c, "HD t1\r\n")
		time.Sleep(time.Second)
		send(t, c, "mg a t\r\n")
		receive(t, c, "EN\r\n")
		send(t, c, "mg slow\r\n")
		receive(t, c, "EN\r\n")
		assert.Equal(t, time.Hour+90*time.Second, time.Since(began))

		send(t, c, "mg late Ol\r\nmg next\r\n")
		receive(t, c, "EN\r\n")
		time.Sleep(time.Hour)
		receive(t, c, "EN Ol\r\n")

		// memcached's arithmetic makes it a second less.
		send(t, c, "ms a 1\r\nx\r\nflush_all 10\r\n")
		receive(t, c, "HD\r\nOK\r\n")
		time.Sleep(8 * time.Second)
		send(t, c, "mg a\r\n")
		receive(t, c, "HD\r\n")
		time.Sleep(time.Second)
		send(t, c, "mg a\r\n")
		receive(t, c, "EN\r\n")
	})
}

func TestServerRejectsBadOptions(t *testing.T) {
	_, err := RunServer(ServerOptions{Network: "udp"})
	require.ErrorContains(t, err, "udp")
}

func TestClosedServer(t *testing.T) {
	s := NewServer(t, ServerOptions{})
	require.NoError(t, s.Close())
	require.NoError(t, s.Close())
	_, err := s.DialContext(t.Context(), "", "")
	require.ErrorIs(t, err, syscall.ECONNREFUSED)
	receiveAll(t, closedPipe{s.Pipe()}, "")
	require.ErrorIs(t, s.Refuse(false), net.ErrClosed)
}

// closedPipe reads a closed pipe's end as an end.
type closedPipe struct{ net.Conn }

func (c closedPipe) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if errors.Is(err, io.ErrClosedPipe) {
		err = io.EOF
	}
	return n, err
}
