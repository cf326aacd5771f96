package memcachedtest

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"sync"
	"time"
)

// serverConn is a connection with two goroutines: one reads requests and
// carries them out, the other writes replies. So a request that waits for its
// reply does not keep the server from reading the next.
type serverConn struct {
	srv  *Server
	c    net.Conn
	id   int
	gone chan struct{} // closed when nothing can be sent any more
	once sync.Once     // of gone
	out  *replyQueue
}

func newServerConn(s *Server, c net.Conn, id int) *serverConn {
	sc := &serverConn{srv: s, c: c, id: id, gone: make(chan struct{})}
	sc.out = newReplyQueue(sc)
	return sc
}

// start starts the goroutines. Called with the server's lock held.
func (sc *serverConn) start(what ConnAction) {
	switch what {
	case ConnClose:
		sc.endNow(closeConn)
	case ConnReset:
		sc.endNow(resetConn)
	}
	sc.srv.wg.Go(func() {
		defer sc.srv.forget(sc)
		defer sc.endNow(closeConn)
		written := make(chan struct{})
		go func() {
			defer close(written)
			sc.out.run()
		}()
		if what == ConnDeaf {
			<-sc.gone
		} else {
			sc.read(what == ConnMute)
		}
		// No request follows. Replies that are due are still written, but
		// nobody waits for one that isn't.
		sc.out.finish()
		sc.stop()
		<-written
	})
}

// stop ends all waiting.
func (sc *serverConn) stop() { sc.once.Do(func() { close(sc.gone) }) }

// endNow ends the connection, or its sending half. It does not block.
func (sc *serverConn) endNow(how ending) {
	switch how {
	case keepOpen:
		return
	case halfCloseConn:
		if half, ok := sc.c.(interface{ CloseWrite() error }); ok {
			_ = half.CloseWrite() // the peer may have gone already
			sc.out.abandon()
			return
		}
	case resetConn:
		if tcp, ok := sc.c.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
	}
	sc.out.abandon()
	sc.stop()
	_ = sc.c.Close()
}

// countingReader tells the recorder what came.
type countingReader struct {
	r   io.Reader
	log *recorder
}

func (c countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	if n > 0 {
		c.log.read(n)
	}
	return n, err
}

// read reads and serves requests until the connection ends.
func (sc *serverConn) read(mute bool) {
	in := bufio.NewReaderSize(countingReader{sc.c, &sc.srv.log}, 16<<10)
	if sc.srv.opts.Auth != nil && !mute && !sc.authenticate(in) {
		return
	}
	for seq := 1; ; seq++ {
		line, err := readLine(in)
		if err != nil {
			return
		}
		store := sc.srv.store
		cmd := parse(store, sc.srv.opts.Version, line)
		body, err := readBody(in, cmd)
		if err != nil {
			return
		}
		req := sc.request(seq, line, body)
		sc.srv.log.add(req)
		if mute {
			continue
		}
		arrived := time.Now()
		a := (*sc.srv.script.Load())(req)
		var answer []byte
		if !a.unexecuted {
			store.mu.Lock()
			answer = []byte(cmd.run(store, body))
			store.mu.Unlock()
		}
		if cmd.quit && a.end == keepOpen {
			a.end = closeConn
		}
		sc.out.put(newReply(a, answer, arrived))
		if cmd.quit {
			// The writer closes the connection when it is there.
			_, _ = io.Copy(io.Discard, in)
			return
		}
	}
}

func (sc *serverConn) request(seq int, line string, body []byte) Request {
	r := Request{Conn: sc.id, Seq: seq, Line: line}
	if t := tokens(line); len(t) > 0 {
		r.Command = t[0]
		if len(t) > 1 {
			r.Key = t[1]
		}
	}
	if body != nil {
		r.Body = body[: len(body)-2 : len(body)-2]
	}
	return r
}

var errLineTooLong = errors.New("line too long")

// readLine reads up to a newline and takes that off, with a carriage return
// before it. Long lines are for multi-gets alone.
func readLine(in *bufio.Reader) (string, error) {
	var line []byte
	for {
		if _, err := in.Peek(1); err != nil {
			return "", err
		}
		part, _ := in.Peek(in.Buffered())
		end := bytes.IndexByte(part, '\n')
		if end >= 0 {
			part = part[:end+1]
		}
		line = append(line, part...)
		_, _ = in.Discard(len(part)) // they are buffered
		if (len(line) > lineLimit && !isGet(string(line[:200]))) || len(line) > getLineLimit {
			return "", errLineTooLong
		}
		if end < 0 {
			continue
		}
		line = line[:len(line)-1]
		if n := len(line); n > 1 && line[n-1] == '\r' {
			line = line[:n-1]
		}
		return string(line), nil
	}
}

func readBody(in *bufio.Reader, cmd command) ([]byte, error) {
	if cmd.body == 0 {
		return nil, nil
	}
	if cmd.discard {
		_, err := in.Discard(cmd.body)
		return nil, err
	}
	body := make([]byte, cmd.body)
	_, err := io.ReadFull(in, body)
	return body, err
}
