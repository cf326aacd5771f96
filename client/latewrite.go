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
	// reply, so that it will never be known; nor is it of keys of a DeleteMulti if the
	// server has answered an error that may be that of another one.
	Err error
}

// writes reports whether a request of this kind changes something.
func (r *request) writes() bool {
	switch r.verb {
	case verbDelete, verbDeleteRun, verbTouch, verbTouchRun, verbIncrement, verbDecrement:
		return true
	case verbMeta:
		return r.extras.meta.writes()
	}
	return r.verb.stores()
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
	if o.run != nil {
		late := o.run.late(o.verb, srv, o.err)
		cl.spawn(func() {
			for _, l := range late {
				report(l)
			}
		})
		return
	}
	late := LateWrite{Op: o.verb.String(), Key: o.key, Server: srv.name}
	if o.err != nil {
		late.Err = opErrorOf(o.verb, srv, o.err)
	} else {
		late.Err = statusError(o.verb, srv, o.status)
	}
	cl.spawn(func() { report(late) })
}

// late is what is to be told of a run whose caller had given up, and which has ended
// with err: of the keys that had no answer then.
func (r *run) late(v verb, srv *server, err error) []LateWrite {
	late := make([]LateWrite, 0, len(r.keys)-r.told)
	add := func(i int, err error) {
		late = append(late, LateWrite{Op: v.String(), Key: r.name(i), Server: srv.name, Err: err})
	}
	r.errors(v, srv, r.told, r.settled, add)
	for i := r.settled; i < len(r.keys); i++ {
		add(i, opErrorOf(v, srv, err))
	}
	return late
}
