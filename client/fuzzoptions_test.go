package client

import "time"

// applyFuzzed gives a request the options that its verb has, as n and text say.
func applyFuzzed(r *request, n uint64, text string) error {
	bit := func(i uint) bool { return n>>i&1 == 1 }
	number := func(i uint) uint64 {
		if bit(i) {
			return n
		}
		return 0
	}
	ttl := func(i uint) time.Duration { return time.Duration(number(i)) }
	var cas uint64
	var size int
	var left time.Duration
	h := Hints{P: text}
	if bit(0) {
		h = Hints{L: text, P: "path"}
	}
	switch {
	case r.verb == verbGet || r.verb == verbInspect:
		g := GetOptions{Touch: ttl(1), Vivify: ttl(2), NewCAS: number(3), Recache: ttl(4), UnlessCAS: number(5), Info: bit(6), NoBump: bit(7), Hints: h}
		return g.apply(r)
	case r.verb.stores():
		s := StoreOptions{IfCAS: number(1), StaleIfOlder: bit(2), NewCAS: number(3), Create: bit(4), Hints: h}
		if bit(5) {
			s.StoredCAS = &cas
		}
		if bit(6) {
			s.StoredSize = &size
		}
		return s.apply(r)
	case r.verb == verbDelete:
		d := DeleteOptions{IfCAS: number(1), Invalidate: bit(2), DropValue: bit(3), TTL: ttl(4), NewCAS: number(5), Hints: h}
		return d.apply(r)
	case r.verb == verbIncrement || r.verb == verbDecrement:
		c := CounterOptions{IfCAS: number(1), NewCAS: number(2), Touch: ttl(3), Hints: h}
		if bit(4) {
			c.CAS, c.TTL = &cas, &left
		}
		return c.apply(r)
	case r.verb == verbMeta:
		q := MetaRequest{Command: []string{"mg", "ms", "md", "ma", "me", "mn"}[n%6], Value: r.value}
		for i := 0; i+1 < len(text); i += 2 { // a letter for each two bytes, and what follows as its token
			f := MetaFlag{Letter: text[i]}
			if text[i+1]&1 == 0 {
				f.Token = text[i+1:]
			}
			q.Flags = append(q.Flags, f)
		}
		return q.apply(r)
	}
	return nil
}
