package memcachedtest

import "syscall"

// dieWithParent lets the kernel kill the child when the thread that made it
// ends (PR_SET_PDEATHSIG). The setting is lost if the child changes its user,
// as with "-u somebody" among [Options.Args].
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
