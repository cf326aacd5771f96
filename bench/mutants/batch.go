package main

// batchMutations are what batches and runs must never do.
var batchMutations = []mutation{
	// reader
	{"run: opaques in any order", []edit{{"reader/run.go",
		`if !ok || o >= uint32(p.expect.Count) || int(o) < p.seen {`,
		`if !ok || o >= uint32(p.expect.Count) {`,
	}}, "reader", "TestPoison"},
	{"run: keys not checked", []edit{{"reader/run.go",
		`	if len(e.Keys) > 0 {`,
		`	if false {`,
	}}, "reader", "TestPoison"},
	{"run: more error lines than requests", []edit{{"reader/run.go",
		`if i+p.lines >= p.expect.Count {`,
		`if false {`,
	}}, "reader", "TestPoison"},
	{"run: error lines for requests that went well", []edit{{"reader/run.go",
		`if p.lines > i-p.seen {`,
		`if false {`,
	}}, "reader", "TestPoison"},
	{"run: ended by any MN", []edit{{"reader/run.go",
		`if e.Quiet && string(line) == "MN" && p.lastAnswered() {`,
		`if string(line) == "MN" {`,
	}}, "reader", "TestPoison"},
	{"run: ended before its last request is answered", []edit{{"reader/run.go",
		`if e.Quiet && string(line) == "MN" && p.lastAnswered() {`,
		`if e.Quiet && string(line) == "MN" {`,
	}}, "reader", "TestPoison"},

	// what is known of whom
	{"run: an error line belongs to the next key", []edit{{"client/run.go",
		`r.refusals = append(r.refusals, refusedKeys{r.settled, i, r.lines[0], Unknown})`,
		`r.refusals = append(r.refusals, refusedKeys{r.settled, r.settled + 1, r.lines[0], Answered})`,
	}}, "client", "TestRunErrors"},
	{"run: what is behind the last reply went well", []edit{{"client/multikeys.go",
		`	return o.run.settled
`,
		`	return len(entries)
`,
	}}, "client", "TestRunDesync|TestSimulation"},
	{"run: opaques used twice", []edit{{"client/conn.go",
		`	c.opaque += n
`,
		`	c.opaque++
`,
	}}, "client", "TestReserve"},
	{"run: opaques wrap around", []edit{{"client/conn.go",
		`if c.opaque > math.MaxUint32-n {`,
		`if c.opaque == math.MaxUint32 {`,
	}}, "client", "TestReserve"},
	{"run: late keys not told", []edit{{"client/latewrite.go",
		`	for i := r.settled; i < len(r.keys); i++ {
`,
		`	for i := len(r.keys); i < len(r.keys); i++ {
`,
	}}, "client", "TestLateRunIsLost"},
	{"run: told of keys that the call has told of", []edit{{"client/op.go",
		`		o.run.told = o.run.settled
`,
		`		o.run.told = 0
`,
	}}, "client", "TestSimulation"},
	{"a multi-get's refused keys are told of at the end only", []edit{{"client/fanout.go",
		`refused = append(refused, o.run.refusals[p.refused:]...)`,
		`refused = refused[:0]`,
	}}, "client", "TestSimulation"},
	{"an entry that was sent is called not sent", []edit{{"client/lane.go",
		`		if i < unsent {
`,
		`		if i < unsent && false {
`,
	}}, "client", "TestEveryPoint|TestBatchGivenUp"},

	// order and limits
	{"a batch goes on elsewhere before it knows what was sent", []edit{{"client/lane.go",
		`		return !l.c.down.Load() && !(l.large && l.pool.better(l.c))
`,
		`		if !l.c.down.Load() {
			return true
		}
`,
	}}, "client", "TestLaneWaitsForItsConnectionsEnd"},
	{"what was not sent is not sent elsewhere", []edit{{"client/fanout.go",
		`		l.giveBack(p)
		return nil
`,
		`		return nil
`,
	}}, "client", "TestBatchOnBrokenConnection|TestSimulation"},
	{"a batch without a window", []edit{{"client/window.go",
		`	return n < leastOutstanding || n < w.requests && bytes < w.bytes
`,
		`	return true
`,
	}}, "client", "TestWindow|TestBatchOnBrokenConnection"},
	{"a batch stays on the first connection", []edit{{"client/pool.go",
		`	return other != nil && other != c
`,
		`	return other != nil && other != c && false
`,
	}}, "client", "TestPickAside"},
	{"a multi-get has a new deadline after each hit", []edit{{"client/fanout.go",
		`	deadline = f.limit
	for`,
		`	deadline = f.cl.deadline(context.Background())
	for`,
	}, {"client/lane.go",
		`	return f.limit
`,
		`	return f.cl.deadline(context.Background())
`,
	}}, "client", "TestGetMultiHasOneDeadline"},
	{"a batch is bounded as a whole", []edit{{"client/fanout.go",
		`			f.extend(l)
		}
		if send {`,
		`		}
		if send {`,
	}}, "client", "TestBatchPatience"},
	{"a server that stalls ends the others' part", []edit{{"client/fanout.go",
		`if l.over() || !all && now.Before(l.deadline) {`,
		`if l.over() {`,
	}}, "client", "TestBatchPatience"},
	{"a bad item ends its batch", []edit{{"client/lane.go",
		`			f.job.fail(l.srv, l.todo[l.next:l.next+n], err, NotSent)
			l.next += n
			continue
`,
		`			l.err = err
			return
`,
	}}, "client", "TestSetMultiRefusals"},
}
