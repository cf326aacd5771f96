package client_test

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"
)

// A simulated value is a row of records, the first written by a store and each
// further one by an append:
//
//	key#id#padding length#padding#checksum;
//
// The id is that of the operation which wrote it, unique in the simulation.

// simPads tempt a parser that looks for replies where values are.
var simPads = []string{"", "x", "\r\n", "\r\nEND\r\n", "HD O1\r\nMN\r\n", "VALUE k1 0 5 9\r\nwrong\r\nEND\r\n", "VA 4 f0 c1 kk1 O2\r\nevil\r\n", "#;\x00\n"}

func simRecord(key string, id uint64, pad string) []byte {
	b := fmt.Appendf(nil, "%s#%d#%d#%s#", key, id, len(pad), pad)
	return fmt.Appendf(b, "%08x;", crc32.ChecksumIEEE(b))
}

func simPad(kind, length int) string {
	p := simPads[kind%len(simPads)]
	if p == "" {
		return strings.Repeat("pad.", length/4)
	}
	return strings.Repeat(p, 1+length/len(p))
}

// simRecords returns the ids of a value's records, or says what is wrong with
// the value as one of key.
func simRecords(key string, value []byte) (ids []uint64, problem string) {
	for len(value) > 0 {
		parts := bytes.SplitN(value, []byte("#"), 4)
		if len(parts) < 4 {
			return nil, "is no record"
		}
		id, err1 := strconv.ParseUint(string(parts[1]), 10, 64)
		n, err2 := strconv.Atoi(string(parts[2]))
		head := len(value) - len(parts[3])
		if err1 != nil || err2 != nil || n < 0 || len(parts[3]) < n+1+8+1 {
			return nil, "is damaged"
		}
		body, end := value[:head+n+1], value[head+n+1:]
		if string(end[:9]) != fmt.Sprintf("%08x;", crc32.ChecksumIEEE(body)) {
			return nil, "has a wrong checksum"
		}
		if string(parts[0]) != key {
			return nil, "is another key's"
		}
		ids = append(ids, id)
		value = end[9:]
	}
	if len(ids) == 0 {
		return nil, "is empty"
	}
	return ids, ""
}
