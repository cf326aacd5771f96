package runner

import (
	"fmt"
	"os"
	"time"

	"github.com/memring/memring/bench/internal/cases"
)

// Progress tells on a terminal, or now and then in a log, how far a run is.
type Progress struct {
	to       *os.File
	terminal bool
	began    time.Time
	last     time.Time
	total    time.Duration
	done     time.Duration
}

// logEvery is how often a line is written where lines can't be overwritten.
const logEvery = 5 * time.Second

// NewProgress writes to a file, usually stderr.
func NewProgress(to *os.File) *Progress {
	info, err := to.Stat()
	return &Progress{to: to, terminal: err == nil && info.Mode()&os.ModeCharDevice != 0, began: time.Now()}
}

func (p *Progress) plan(total time.Duration) { p.total = total }

// did counts finished work.
func (p *Progress) did(d time.Duration) { p.done += d }

// say tells what is under way.
func (p *Progress) say(what string, c cases.Case, client cases.Client) {
	now := time.Now()
	if !p.terminal && now.Sub(p.last) < logEvery {
		return
	}
	p.last = now
	line := fmt.Sprintf("%3.0f%% %s %s %s%s", 100*p.share(), what, c.ID(), client, p.left(now))
	if p.terminal {
		fmt.Fprintf(p.to, "\r\x1b[K%s", line)
		return
	}
	fmt.Fprintln(p.to, line)
}

func (p *Progress) end() {
	if p.terminal {
		fmt.Fprint(p.to, "\r\x1b[K")
	}
}

func (p *Progress) share() float64 { return float64(p.done) / float64(max(p.total, 1)) }

// left estimates the time to go from the time so far.
func (p *Progress) left(now time.Time) string {
	if p.done == 0 {
		return fmt.Sprintf(", about %s in all", p.total.Round(time.Second))
	}
	left := time.Duration(float64(now.Sub(p.began)) * (1/p.share() - 1))
	return fmt.Sprintf(", %s left", left.Round(time.Second))
}
