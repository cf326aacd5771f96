package main

// counts are the numbers of a part that can be added to another's.
type counts struct {
	seeds, ops, wrong, hangs, leaks, timeouts, owed, saved, desyncs, provoked, broken uint64
}

// keys are what the lines of the seeded tests call them.
func (c *counts) keys() map[string]*uint64 {
	return map[string]*uint64{
		"seeds": &c.seeds, "ops": &c.ops, "wrong": &c.wrong, "hangs": &c.hangs, "leaks": &c.leaks, "timeouts": &c.timeouts,
		"owed": &c.owed, "saved": &c.saved, "desyncs": &c.desyncs, "provoked": &c.provoked, "broken": &c.broken,
	}
}

func (c *counts) add(o counts) {
	from := o.keys()
	for key, n := range c.keys() {
		*n += *from[key]
	}
}

// leastRecovered is the share of timeouts, in percent, that must not cost a connection whose server answers.
const leastRecovered = 99

// recovered is that share.
func (c *counts) recovered() float64 {
	if c.owed == 0 {
		return 100
	}
	return 100 * float64(c.saved) / float64(c.owed)
}

// faulty reports whether something happened that never may.
func (c *counts) faulty() bool {
	return c.wrong+c.hangs+c.leaks+c.desyncs+c.broken > 0
}
