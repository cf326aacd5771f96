package standin

import "time"

// line holds replies back until they fall due, in the order in which they were pushed: one that is due
// waits for those before it. Times are durations since any fixed start.
type line struct {
	entries []entry // entries[head:] are waiting
	head    int
	buf     []byte // buf[sent:] are the waiting replies, one after the other
	sent    int
}

type entry struct {
	due time.Duration
	end int // of the reply in buf
}

// compactBytes bounds what is kept of replies already sent.
const compactBytes = 256 << 10

func (l *line) push(due time.Duration, reply []byte) {
	if l.sent == len(l.buf) || l.sent > compactBytes {
		l.compact()
	}
	l.buf = append(l.buf, reply...)
	l.entries = append(l.entries, entry{due, len(l.buf)})
}

func (l *line) compact() {
	l.buf = l.buf[:copy(l.buf, l.buf[l.sent:])]
	l.entries = l.entries[:copy(l.entries, l.entries[l.head:])]
	for i := range l.entries {
		l.entries[i].end -= l.sent
	}
	l.head, l.sent = 0, 0
}

// next says when the next reply falls due.
func (l *line) next() (time.Duration, bool) {
	if l.head == len(l.entries) {
		return 0, false
	}
	return l.entries[l.head].due, true
}

// due returns the bytes that may be written now. They die with the next push.
func (l *line) due(now time.Duration) []byte {
	end := l.sent
	for _, e := range l.entries[l.head:] {
		if e.due > now {
			break
		}
		end = e.end
	}
	return l.buf[l.sent:end]
}

// wrote records that n due bytes are gone.
func (l *line) wrote(n int) {
	l.sent += n
	for l.head < len(l.entries) && l.entries[l.head].end <= l.sent {
		l.head++
	}
}
