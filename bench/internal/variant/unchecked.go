package variant

// Unchecked takes out what recovery needs on the way of a request that is answered in time: the opaque
// number and the key that prove a reply, on the wire as well, the lock that decides between a reply and a
// caller who gives up, and the book of what may still be taken back unsent. What remains works as long as
// no call times out and no reply is wrong.
var Unchecked = []Edit{
	// The request asks for neither, and nothing is expected.
	{"client/encode.go", "	b = append(b, \" O\"...)\n	b = strconv.AppendUint(b, uint64(opaque), 16)\n	return append(b, crlf...)\n", "	return append(b, crlf...)\n"},
	{"client/encode.go", "return !r.wire.base64", "return false"},
	{"client/expect.go", "		o.expect.Opaque = opaque\n", ""},
	// The values of a multi-get come in the order asked for, with none missing.
	{"reader/values.go", "		if string(key) == k {\n			return true\n		}\n", "		_ = k\n		return true\n"},
	// No tombstones: the reply is always its caller's.
	{"client/op.go", "		o.mu.Lock()\n		o.held = true\n", "		o.held = true\n"},
	{"client/op.go", "		o.held = false\n		o.mu.Unlock()\n	}\n}\n", "		o.held = false\n	}\n}\n"},
	{"client/op.go", "	o.w.Signal()\n	o.mu.Unlock()\n}\n", "	o.w.Signal()\n}\n"},
	{"client/conn.go", "		if !c.isVoid(o) {\n", "		if true {\n"},
	// No taking back.
	{"client/conn.go", "	c.unsent = append(c.trimUnsent(queued-o.size), sending{o, o.size})\n", "	_ = queued\n"},
}
