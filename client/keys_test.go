package client

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWireKey(t *testing.T) {
	long := strings.Repeat("k", MaxKeyLen+1)
	binary := strings.Repeat("\x00", MaxBinaryKeyLen)
	const hashOfLong = "sha256:3b8059c637939a483bdc7beef09f11b566581be6d14e25083b3041b77717de02"
	for _, c := range []struct {
		about  string
		keys   keyspace
		key    string
		stored string // empty: refused
		text   string // empty: as stored
	}{
		{"plain", keyspace{}, "key", "key", ""},
		{"empty", keyspace{}, "", "", ""},
		{"empty, with everything", keyspace{"p", true, true}, "", "", ""},
		{"too long", keyspace{}, long, "", ""},
		{"longest", keyspace{}, long[1:], long[1:], ""},
		{"a space", keyspace{}, "a b", "", ""},
		{"a space, hashing", keyspace{hash: true}, "a b", "", ""},
		{"prefix", keyspace{prefix: "app:"}, "key", "app:key", ""},
		{"longest with prefix", keyspace{prefix: "p"}, long[2:], "p" + long[2:], ""},
		{"too long with prefix", keyspace{prefix: "p"}, long[1:], "", ""},
		{"binary", keyspace{binary: true}, "a b", "a b", "YSBi"},
		{"a text among binary keys", keyspace{binary: true}, "ab", "ab", ""},
		{"binary with prefix", keyspace{prefix: "p", binary: true}, "\r\n", "p\r\n", "cA0K"},
		{"longest binary", keyspace{binary: true}, binary, binary, strings.Repeat("AAAA", MaxBinaryKeyLen/3)},
		{"too long binary", keyspace{binary: true}, binary + "\x00", "", ""},
		{"hashed", keyspace{hash: true}, long, hashOfLong, ""},
		{"hashed with prefix", keyspace{prefix: "p:", hash: true}, long, "p:" + hashOfLong, ""},
		{"not long enough for a hash", keyspace{hash: true}, long[1:], long[1:], ""},
		{"like a hash", keyspace{hash: true}, hashOfLong, "sha256:cd94cbe9a89050550b5860c013012bd41949c020534476cad625b85b6b4ff438", ""},
		{"like a hash, not hashing", keyspace{}, hashOfLong, hashOfLong, ""},
	} {
		t.Run(c.about, func(t *testing.T) {
			w, err := c.keys.wire(c.key)
			if c.stored == "" {
				require.ErrorIs(t, err, ErrKey)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.stored, w.stored)
			if c.text == "" {
				c.text = c.stored
			}
			require.Equal(t, c.text, w.text)
			require.Equal(t, w.text != w.stored, w.base64)
			require.LessOrEqual(t, len(w.text), MaxKeyLen)
		})
	}
}

func TestKeyPrefix(t *testing.T) {
	for prefix, good := range map[string]bool{
		"": true, "app:": true, strings.Repeat("p", 115): true, strings.Repeat("p", 116): false,
		"a b": false, "a\n": false,
	} {
		c, err := New([]string{"127.0.0.1:1"}, &Config{KeyPrefix: prefix})
		if good {
			require.NoError(t, err)
			require.NoError(t, c.Close())
		} else {
			require.ErrorIs(t, err, ErrConfig, "%q", prefix)
		}
	}
}
