package reader

import "encoding/base64"

// maxKey is a little above the 250 bytes that the server allows on the wire.
const maxKey = 256

// sameItem reports whether key, which a reply returned, names the item that was
// asked for as name, though it is not spelt the same. How the server spells it depends
// on how the item was stored, not on how it was asked for: one stored with the
// b flag comes back as base64 with a b flag, any other one plain. Only on a
// miss is the request echoed.
func sameItem(name string, asBase64 bool, key []byte, isBase64 bool) bool {
	if isBase64 == asBase64 {
		return false
	}
	if len(key) > maxKey || len(name) > maxKey {
		return false
	}
	var coded, raw [maxKey]byte
	if isBase64 {
		n, err := base64.StdEncoding.Decode(raw[:], key)
		return err == nil && string(raw[:n]) == name
	}
	n, err := base64.StdEncoding.Decode(raw[:], coded[:copy(coded[:], name)])
	return err == nil && string(raw[:n]) == string(key)
}

func startsWith(b []byte, prefix string) bool {
	return len(b) >= len(prefix) && string(b[:len(prefix)]) == prefix
}
