package client

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"sync"
)

// poison is what released memory is filled with under Config.PoisonLeases.
const poison = 0xDB

// What a quarantine holds at most, but for one block that is larger.
const (
	maxPatients    = 256
	maxWardBytes   = 64 << 20
	releaseCallers = 8
)

// quarantine keeps released blocks, poisoned, and looks at them when it lets them
// go: whoever has written to one must not have had it any more. They are never lent
// again, so that who reads one still sees poison, and not somebody's value.
//
// It panics in whichever call has it look, since an error there could only concern
// somebody else. That is in Release and in Close, without any lock held: a panic in a
// driver would take all calls with it, and leave a wreck if it were recovered.
type quarantine struct {
	mu       sync.Mutex
	patients []patient // oldest first
	bytes    int
}

type patient struct {
	*block
	released [releaseCallers]uintptr // by whom
}

// admit takes a block in, and lets the oldest ones go.
func (q *quarantine) admit(b *block) {
	p := patient{block: b}
	runtime.Callers(4, p.released[:]) // Release's caller first
	for i := range b.mem {
		b.mem[i] = poison
	}
	q.mu.Lock()
	q.patients = append(q.patients, p)
	q.bytes += len(b.mem)
	n := 0
	for ; len(q.patients)-n > maxPatients || q.bytes > maxWardBytes && len(q.patients)-n > 1; n++ {
		q.bytes -= len(q.patients[n].mem)
	}
	gone := q.patients[:n:n]
	q.patients = q.patients[n:]
	q.mu.Unlock()
	examine(gone)
}

// clear lets all blocks go.
func (q *quarantine) clear() {
	q.mu.Lock()
	gone := q.patients
	q.patients, q.bytes = nil, 0
	q.mu.Unlock()
	examine(gone)
}

var clean = bytes.Repeat([]byte{poison}, 4<<10)

// examine panics if one of the blocks was written to.
func examine(gone []patient) {
	for i := range gone {
		for at := 0; at < len(gone[i].mem); {
			part := gone[i].mem[at:min(at+len(clean), len(gone[i].mem))]
			if !bytes.Equal(part, clean[:len(part)]) {
				for j := range part {
					if part[j] != poison {
						panic(gone[i].accuse(at + j))
					}
				}
			}
			at += len(part)
		}
		gone[i] = patient{} // the list's memory lives on
	}
}

// accuse says what has happened. The bytes themselves stay out of it: they may be
// anything.
func (p *patient) accuse(at int) string {
	var s strings.Builder
	fmt.Fprintf(&s, "memring: byte %d of a leased value was written after its release (Config.PoisonLeases). It was released at", at)
	for frames := runtime.CallersFrames(p.released[:]); ; {
		f, more := frames.Next()
		if f.Function != "" {
			fmt.Fprintf(&s, "\n\t%s\n\t\t%s:%d", f.Function, f.File, f.Line)
		}
		if !more {
			return s.String()
		}
	}
}
