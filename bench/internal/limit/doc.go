// Package limit gets values with as little as can be around the system calls: what is left of a client's
// cost when the kernel's share is known. These are no clients: one caller, one connection, one request at a
// time, errors are final.
package limit

import (
	"bytes"
	"fmt"
)

// maxValue bounds the values: a reply has to fit the buffer.
const maxValue = 32 << 10

// bufferSize is that of the receive buffer, as large as memring's.
const bufferSize = 64 << 10

// appendGet appends the request that memring would send.
func appendGet(b []byte, key string) []byte {
	return append(append(append(b, "mg "...), key...), " v f c k O1\r\n"...)
}

// reply looks for a whole reply in what was received and returns its value, or nil if more has to come.
func reply(p []byte) (value []byte, err error) {
	end := bytes.IndexByte(p, '\n')
	if end < 0 {
		return nil, nil
	}
	size, digits := 0, 0
	for _, c := range p[min(3, end):end] {
		if c < '0' || c > '9' {
			break
		}
		size, digits = size*10+int(c-'0'), digits+1
	}
	if p[0] != 'V' || p[1] != 'A' || digits == 0 || size > maxValue {
		return nil, fmt.Errorf("the server answered %q", p[:end])
	}
	if len(p) < end+1+size+2 {
		return nil, nil
	}
	return p[end+1 : end+1+size], nil
}
