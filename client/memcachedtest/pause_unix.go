//go:build unix && !linux

package memcachedtest

import "syscall"

// Pause stops the server in its tracks (SIGSTOP), moments after it returns:
// connections are still accepted by the kernel and bytes still buffered, but
// nothing is answered.
func (p *Process) Pause() error { return p.Signal(syscall.SIGSTOP) }

// Resume lets a paused server go on (SIGCONT).
func (p *Process) Resume() error { return p.Signal(syscall.SIGCONT) }
