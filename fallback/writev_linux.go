package fallback

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// writePieces makes one write of all pieces.
func writePieces(fd int, pieces [][]byte) (n int, err error) {
	if len(pieces) == 1 {
		return syscall.Write(fd, pieces[0])
	}
	return unix.Writev(fd, pieces)
}
