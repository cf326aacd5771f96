package client

// LateWrite tells how a write ended whose call had given up with the outcome
// unknown.
type LateWrite struct {
	Op     string // "set", "delete", …
	Key    string
	Server string

	// Err is nil if the write was carried out, and otherwise what the call would
	// have returned: ErrNotStored and the like if the server has refused it, or
	// an OpError whose Outcome is Unknown if the connection was lost before any
	// reply, so that it will never be known.
	Err error
}

// writes reports whether a request of this kind changes something.
func (r *request) writes() bool {
	v := r.verb
	return v == verbMeta && r.meta.writes() || v.stores() || v == verbDelete || v == verbTouch || v == verbIncrement || v == verbDecrement
}

// reportLate calls Config.LateWrite for an abandoned op, in a goroutine of its
// own: the driver must not wait for a user's code. The op's status and err are
// those of its late reply.
func (o *op) reportLate(c *conn) {
	cl := c.p.srv.cl
	report := cl.cfg.LateWrite
	if report == nil || !o.writes() {
		return
	}
	srv := c.p.srv
	late := LateWrite{Op: o.verb.String(), Key: o.key, Server: srv.name}
	if o.err != nil {
		late.Err = opErrorOf(o.verb, srv, o.err)
	} else {
		late.Err = statusError(o.verb, srv, o.status)
	}
	cl.spawn(func() { report(late) })
}
