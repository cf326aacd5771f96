package client

import "fmt"

// MaxHintLen is the longest hint, in bytes.
const MaxHintLen = MaxKeyLen

// Hints are for a proxy between client and server, which decides what they mean;
// memcached passes them over, from 1.6.14 on, and earlier ones are not sent any.
// Each has at most [MaxHintLen] bytes, none of them a space or a control character.
// What is empty is not sent.
type Hints struct {
	P string // the P flag
	L string // the L flag
}

// apply makes the hints part of a request of the meta protocol.
func (h *Hints) apply(r *request) error {
	if *h == (Hints{}) {
		return nil
	}
	x := r.extra()
	for _, f := range [...]struct{ flag, text string }{{" P", h.P}, {" L", h.L}} {
		switch {
		case f.text == "":
			continue
		case len(f.text) > MaxHintLen:
			return fmt.Errorf("%w: hint%s has %d bytes, more than %d", ErrArgument, f.flag, len(f.text), MaxHintLen)
		}
		if i := notText(f.text); i >= 0 {
			return fmt.Errorf("%w: hint%s: byte %d is a space or a control character", ErrArgument, f.flag, i)
		}
		x.flags = append(append(x.flags, f.flag...), f.text...)
	}
	x.needs |= hints
	return nil
}
