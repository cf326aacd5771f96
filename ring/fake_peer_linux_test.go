package ring

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// fakePeer is the server at the other end of one fake socket. It answers each
// line "seq size" with "seq size\n" and size bytes out of the pattern, and
// misbehaves where its script says so.
type fakePeer struct {
	f    *fakeSock
	conn *fakeConn
	rnd  *rand.Rand
	line []byte // a request that has not come whole

	stallAt, endAt int // at which request
	stall          time.Duration
	rude           bool // ends with a reset
	drip           bool
	pause          time.Duration
	midway         bool // stalls happen in the middle of a reply
}

// pattern is what payloads are cut out of.
var pattern = func() []byte {
	r := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, 256<<10)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}()

func payload(seq, size int) []byte {
	from := seq * 7919 % (len(pattern) - size)
	return pattern[from : from+size]
}

// dial makes a socket with a peer behind it. The peer's goroutines end with
// the socket.
func (k *fakeKernel) dial(conn *fakeConn, r *rand.Rand, wg *sync.WaitGroup) (*fakeSock, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	if err = unix.SetNonblock(pair[1], true); err != nil {
		return nil, err
	}
	f := &fakeSock{
		k: k, fd: int32(pair[0]), other: os.NewFile(uintptr(pair[1]), "peer"),
		room: 1 << (8 + r.IntN(10)), kick: make(chan struct{}, 1),
	}
	p := &fakePeer{f: f, conn: conn, rnd: r, stallAt: -1, endAt: -1}
	if k.calm {
		f.room = 1 << 30
	} else {
		p.script()
	}
	k.mu.Lock()
	if old := k.socks[f.fd]; old != nil && (old.send != nil || old.recv != nil) && !k.broke {
		k.complain("descriptor %d was closed with operations in the kernel", f.fd)
	}
	k.socks[f.fd] = f
	k.all = append(k.all, f)
	k.mu.Unlock()
	wg.Add(2)
	go func() {
		defer wg.Done()
		f.watch()
	}()
	go func() {
		defer wg.Done()
		p.serve()
	}()
	return f, nil
}

// script decides how the peer will misbehave.
func (p *fakePeer) script() {
	r := p.rnd
	if r.IntN(3) == 0 {
		p.stallAt, p.stall = r.IntN(30), time.Duration(r.IntN(30))*time.Millisecond
	}
	if r.IntN(3) == 0 {
		p.endAt, p.rude = r.IntN(60), r.IntN(2) == 0
	}
	p.drip, p.midway = r.IntN(10) == 0, r.IntN(2) == 0
	if r.IntN(2) == 0 {
		p.pause = time.Duration(r.IntN(400)) * time.Microsecond
	}
}

// watch notices that our side has shut the socket down.
func (f *fakeSock) watch() {
	_, _ = f.other.Read(make([]byte, 1))
	_ = f.other.Close()
	f.k.mu.Lock()
	f.shut = true
	f.progress()
	f.k.mu.Unlock()
	f.poke()
}

func (p *fakePeer) serve() {
	f, k := p.f, p.f.k
	for served := 0; ; {
		<-f.kick
		if p.pause > 0 {
			time.Sleep(time.Duration(p.rnd.Int64N(int64(p.pause))))
		}
		k.mu.Lock()
		got, ended := f.outbox, f.eof || f.reset
		f.outbox = nil
		k.mu.Unlock()
		reply := p.take(got, ended, &served)
		for first := true; len(reply) > 0; first = false {
			n := len(reply)
			if p.midway && first {
				n = (n + 1) / 2
			} else if p.midway && p.stall > 0 && p.rnd.IntN(4) == 0 {
				time.Sleep(p.stall)
			}
			if p.drip && n > 1 {
				n = 1 + p.rnd.IntN(min(n-1, 1000))
			}
			k.mu.Lock()
			f.inbox = append(f.inbox, reply[:n]...)
			f.progress()
			k.mu.Unlock()
			reply = reply[n:]
		}
		k.mu.Lock()
		if served == p.endAt {
			f.reset = p.rude
			f.eof = !p.rude
		}
		f.progress()
		over := f.shut // and what is submitted from now on completes at once, or by watch
		k.mu.Unlock()
		if over {
			return
		}
	}
}

// take checks what has come and answers whole requests.
func (p *fakePeer) take(got []byte, ended bool, served *int) (reply []byte) {
	p.conn.arrived(got)
	if ended {
		return nil
	}
	p.line = append(p.line, got...)
	for *served != p.endAt {
		line, rest, ok := bytes.Cut(p.line, []byte{'\n'})
		if !ok {
			break
		}
		var seq, size int
		if _, err := fmt.Sscanf(string(line), "%d %d", &seq, &size); err != nil {
			p.conn.complain("garbled request %.40q", line)
			break
		}
		p.line = rest
		if *served == p.stallAt {
			time.Sleep(p.stall)
		}
		*served++
		reply = fmt.Appendf(reply, "%d %d\n", seq, size)
		reply = append(reply, payload(seq, size)...)
	}
	return reply
}
