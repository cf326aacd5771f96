package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
)

// A value says all about itself, so that whoever is given it can tell whether it is whole and whose it is:
//
//	checksum of the rest 4 | round 8 | version 8 | length 4 | length of the key 2 | key | filling
const valueHead = 4 + 8 + 8 + 4 + 2

var (
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
	filling    = makeFilling()
)

// maxValue is the longest value of the load: several receive buffers long.
const maxValue = 300 << 10

func makeFilling() []byte {
	b := make([]byte, maxValue+256)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// makeValue writes a value of about size bytes into buf, which it returns extended or replaced.
func makeValue(buf []byte, round uint64, key string, version uint64, size int) []byte {
	size = max(size, valueHead+len(key))
	if cap(buf) < size {
		buf = make([]byte, size)
	}
	buf = buf[:size]
	binary.BigEndian.PutUint64(buf[4:], round)
	binary.BigEndian.PutUint64(buf[12:], version)
	binary.BigEndian.PutUint32(buf[20:], uint32(size))
	binary.BigEndian.PutUint16(buf[24:], uint16(len(key)))
	copy(buf[valueHead:], key)
	copy(buf[valueHead+len(key):], filling[version%256:]) // shifted: a mixture of two values shows
	binary.BigEndian.PutUint32(buf, crc32.Checksum(buf[4:], castagnoli))
	return buf
}

// flagsOf are the flags that a version is stored with.
func flagsOf(version uint64) uint32 { return uint32(version) ^ 0x5a5a5a5a }

// readValue returns the version of a value, or what is wrong with it as the value of that key.
func readValue(v []byte, flags uint32, round uint64, key string) (version uint64, err error) {
	if len(v) < valueHead {
		return 0, fmt.Errorf("%d bytes are no value", len(v))
	}
	if n := int(binary.BigEndian.Uint32(v[20:])); n != len(v) {
		return 0, fmt.Errorf("%d bytes of a value of %d", len(v), n)
	}
	if crc32.Checksum(v[4:], castagnoli) != binary.BigEndian.Uint32(v) {
		return 0, errors.New("the checksum does not match")
	}
	n := int(binary.BigEndian.Uint16(v[24:]))
	if valueHead+n > len(v) {
		return 0, errors.New("the key does not fit")
	}
	if got := string(v[valueHead : valueHead+n]); got != key {
		return 0, fmt.Errorf("it is the value of %q", got)
	}
	if r := binary.BigEndian.Uint64(v[4:]); r != round {
		return 0, fmt.Errorf("it is of round %d", r)
	}
	version = binary.BigEndian.Uint64(v[12:])
	if flags != flagsOf(version) {
		return version, fmt.Errorf("the flags %#x are not those of version %d", flags, version)
	}
	return version, nil
}
