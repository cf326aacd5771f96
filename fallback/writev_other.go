//go:build unix && !linux

package fallback

import "syscall"

// writePieces writes piece after piece until the socket has no room, since
// golang.org/x/sys has a writev for some systems only.
func writePieces(fd int, pieces [][]byte) (n int, err error) {
	for _, p := range pieces {
		k, err := syscall.Write(fd, p)
		if err != nil && n > 0 {
			return n, nil // whatever it is, the next write meets it again
		}
		if err != nil || k < len(p) {
			return n + max(k, 0), err
		}
		n += k
	}
	return n, nil
}
