package client

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
)

const (
	// MaxKeyLen is the longest key that memcached takes, in bytes. Config.KeyPrefix
	// counts, too.
	MaxKeyLen = 250

	// MaxBinaryKeyLen is that of a key which is sent as base64, see
	// Config.BinaryKeys: three bytes become four.
	MaxBinaryKeyLen = MaxKeyLen / 4 * 3

	// hashMark begins the keys that stand for others, see Config.HashLongKeys.
	hashMark = "sha256:"
)

// keyspace says how the callers' keys become the servers'.
type keyspace struct {
	prefix string
	binary bool // keys may have any bytes
	hash   bool // keys may be longer than memcached's
}

// check refuses a prefix that leaves no room for a key.
func (s *keyspace) check() error {
	if s.prefix == "" {
		return nil
	}
	if err := checkKey(s.prefix); err != nil {
		return fmt.Errorf("%w: KeyPrefix: %w", ErrConfig, err)
	}
	if room := MaxBinaryKeyLen - len(hashMark) - 2*sha256.Size; len(s.prefix) > room {
		return fmt.Errorf("%w: KeyPrefix has %d bytes, more than %d", ErrConfig, len(s.prefix), room)
	}
	return nil
}

// wireKey is a key on its way to a server.
type wireKey struct {
	stored string // what the server stores the item under; decides which server
	text   string // what commands have for it: stored, or that as base64
	base64 bool
}

// wire makes a caller's key the server's, or says what is wrong with it.
func (s *keyspace) wire(key string) (wireKey, error) {
	err := checkKey(key)
	if *s == (keyspace{}) {
		return wireKey{stored: key, text: key}, err
	}
	if key == "" {
		return wireKey{}, err
	}
	stored, limit := s.prefix+key, MaxKeyLen
	raw := notText(key) >= 0
	if raw && !s.binary {
		return wireKey{}, err
	}
	if raw {
		limit = MaxBinaryKeyLen
	}
	switch {
	case s.hash && (len(stored) > limit || strings.HasPrefix(key, hashMark)):
		// What looks like a hash is hashed as well, so that no caller's key is
		// another's hash.
		sum := sha256.Sum256([]byte(key))
		stored, raw = s.prefix+hashMark+hex.EncodeToString(sum[:]), false
	case len(stored) > limit:
		return wireKey{}, fmt.Errorf("%w: it has %d bytes with its prefix, more than %d (see Config.HashLongKeys)", ErrKey, len(stored), limit)
	}
	w := wireKey{stored: stored, text: stored, base64: raw}
	if raw {
		w.text = base64.StdEncoding.EncodeToString([]byte(stored))
	}
	return w, nil
}

// checkKey refuses what memcached's text protocol cannot carry: protocol.txt
// forbids control characters and white space, and a newline would inject a
// command.
func checkKey(key string) error {
	if len(key) == 0 {
		return fmt.Errorf("%w: it is empty", ErrKey)
	}
	if len(key) > MaxKeyLen {
		return fmt.Errorf("%w: it has %d bytes, more than %d", ErrKey, len(key), MaxKeyLen)
	}
	if i := notText(key); i >= 0 {
		return fmt.Errorf("%w: byte %d is a space or a control character", ErrKey, i)
	}
	return nil
}

// notText returns the index of the first byte that a command's text cannot have, -1
// if there is none.
func notText(key string) int {
	for i := 0; i < len(key); i++ {
		if key[i] <= ' ' || key[i] == 0x7f {
			return i
		}
	}
	return -1
}
