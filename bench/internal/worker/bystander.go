package worker

import "time"

// wakeEvery is how often the bystander wants to run.
const wakeEvery = time.Millisecond

// bystander is a goroutine that has nothing to do with the client. It sleeps until each millisecond
// and notes how late it wakes; a millisecond it slept through counts once, with its whole delay.
type bystander struct {
	late  *recorder
	wakes uint64
}

func newBystander() *bystander { return &bystander{late: newRecorder(sliceDigits)} }

func (b *bystander) run(begin time.Time, d time.Duration) {
	notes := block{to: b.late}
	defer notes.drain()
	for next := begin.Add(wakeEvery); next.Sub(begin) < d; {
		time.Sleep(time.Until(next))
		now := time.Now()
		notes.add(now.Sub(next))
		b.wakes++
		for next = next.Add(wakeEvery); next.Before(now); {
			next = next.Add(wakeEvery)
		}
	}
}
