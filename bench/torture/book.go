package main

import (
	"fmt"
	"math"
	"sync"
	"time"
)

// A page knows what one key may hold. Any number of writers and readers use it at once; it needs to know
// only when each of their calls began and ended:
//
//   - A write happens at some moment of its call; one whose outcome is unknown at any later moment too, but
//     once, and one that was not sent never.
//   - A write is history when another, begun after it was done, is done in its turn. A read that begins
//     after that must not see it any more.
//
// Deletions are writes of nothing. Times are nanoseconds on the clock of [now].
type page struct {
	mu    sync.Mutex
	last  uint64 // the newest version
	live  []write
	past  []write // history, oldest first
	lossy bool    // the server is restarted: there may be nothing at any time
}

// write is one version of a key.
type write struct {
	version uint64
	op      string
	open    bool // nobody has said yet how it ended
	absent  bool
	begun   int64
	done    int64 // it has happened by then; never if that is not known
	history int64 // since when it is history
}

const never = math.MaxInt64

// remembered is for how long history is kept: longer than any call that does not hang.
const remembered = int64(15 * time.Second)

var began = time.Now()

// now is the time of the torture.
func now() int64 { return int64(time.Since(began)) }

// outcome is how a write ended for its caller.
type outcome uint8

const (
	landed  outcome = iota + 1 // it happened
	refused                    // it did not happen and never will
	unknown                    // it may have happened, or may yet
)

func newPage(lossy bool) *page {
	return &page{lossy: lossy, live: []write{{absent: true}}} // at first there is nothing
}

// begin notes a write that is about to be made.
func (p *page) begin(op string, absent bool) (version uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last++
	p.live = append(p.live, write{version: p.last, op: op, open: true, absent: absent, begun: now(), done: never})
	return p.last
}

// end notes how a write ended. It fails if the write was seen although it has not happened.
func (p *page) end(version uint64, how outcome) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if how == unknown {
		return nil
	}
	return p.settle(version, how)
}

// late notes how a write ended whose outcome was unknown at first, with unknown for those of which it will
// never be known. Such news come without a version, so they are of use only if one write can be meant.
func (p *page) late(op string, how outcome) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var version uint64
	found := 0
	for _, ws := range [][]write{p.live, p.past} {
		for _, w := range ws {
			if w.open && w.op == op {
				version = w.version
				found++
			}
		}
	}
	switch found {
	case 0:
		return fmt.Errorf("news of a late %s, but there is none whose outcome is unknown", op)
	case 1:
		return p.settle(version, how)
	}
	return nil
}

// settle notes the last word on a write.
func (p *page) settle(version uint64, how outcome) error {
	if i := find(p.past, version); i >= 0 {
		p.past[i].open = false
	}
	i := find(p.live, version)
	if i >= 0 {
		p.live[i].open = false
	}
	switch {
	case how == landed && i >= 0:
		p.happened(i, now())
	case how == refused && i >= 0 && p.live[i].done == never:
		p.live = append(p.live[:i], p.live[i+1:]...)
	case how == refused:
		return fmt.Errorf("version %d was read, but its write says that it did not happen", version)
	}
	return nil
}

// happened notes that a live write has happened by t, and makes history of those before it.
func (p *page) happened(i int, t int64) {
	if p.live[i].done != never {
		return
	}
	p.live[i].done = t
	begun, kept := p.live[i].begun, p.live[:0]
	for _, w := range p.live {
		if w.done < begun {
			w.history = t
			p.past = append(p.past, w)
		} else {
			kept = append(kept, w)
		}
	}
	p.live = kept
	for len(p.past) > 0 && p.past[0].history < t-remembered && !p.past[0].open {
		p.past = p.past[1:]
	}
}

// saw checks a version that a read from begun to ended has returned.
func (p *page) saw(version uint64, begun, ended int64) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := find(p.live, version); i >= 0 && !p.live[i].absent {
		p.happened(i, ended)
		return nil
	}
	if i := find(p.past, version); i >= 0 && !p.past[i].absent {
		if h := p.past[i].history; h < begun {
			return fmt.Errorf("version %d was overwritten %v before the read began", version, time.Duration(begun-h))
		}
		return nil
	}
	return fmt.Errorf("version %d was never written or is long gone; the newest is %d", version, p.last)
}

// sawNothing checks a read that has found nothing.
func (p *page) sawNothing(begun int64) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lossy {
		return nil
	}
	for _, w := range p.live {
		if w.absent {
			return nil
		}
	}
	for _, w := range p.past {
		if w.absent && w.history >= begun {
			return nil
		}
	}
	return fmt.Errorf("there is nothing, but the newest version is %d and was not deleted", p.last)
}

// mayVanish notes that the key may have been dropped by now, or be dropped yet.
func (p *page) mayVanish() { p.begin("", true) }

func find(ws []write, version uint64) int {
	for i := len(ws) - 1; i >= 0; i-- {
		if ws[i].version == version {
			return i
		}
	}
	return -1
}

// A tab counts the increments of one key, which starts at 0 and is never set otherwise.
type tab struct {
	mu            sync.Mutex
	begun, landed uint64
	lossy         bool
}

func (t *tab) begin() (before uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.begun++
	return t.landed
}

// end checks the sum that an increment has returned: each that had ended before it began is in it, and none
// that has not begun.
func (t *tab) end(sum, before uint64) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.landed++
	if sum > t.begun || sum == 0 || sum <= before && !t.lossy {
		return fmt.Errorf("the sum is %d after %d to %d increments", sum, before+1, t.begun)
	}
	return nil
}
