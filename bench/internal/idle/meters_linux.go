package idle

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// spareFiles is how many descriptors a process needs beside those of its connections.
const spareFiles = 64

// roomFor tells whether the process may have so many connections. Go has raised the limit as far as it goes.
func roomFor(conns int) error {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &l); err != nil {
		return err
	}
	if l.Cur < uint64(conns+spareFiles) {
		return fmt.Errorf("%d connections need more open files than RLIMIT_NOFILE allows (%d): raise its hard limit", conns, l.Cur)
	}
	return nil
}

func readMeters() (m meters, err error) {
	m.goMemory()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return m, err
	}
	m.resident, m.pinned = field(status, "VmRSS:"), field(status, "VmPin:")
	m.threads = int(field(status, "Threads:") / 1024)
	if m.arena, err = arena(); err != nil {
		return m, err
	}
	info, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return m, err
	}
	m.slab = field(info, "Slab:")
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return m, err
	}
	m.fds = len(files)
	for _, f := range files {
		if fd, err := strconv.Atoi(f.Name()); err == nil {
			m.sockets += queued(fd)
		}
	}
	return m, nil
}

// field reads a number of KiB out of /proc's lists, in bytes.
func field(list []byte, name string) float64 {
	_, rest, ok := bytes.Cut(list, []byte("\n"+name))
	if !ok {
		_, rest, ok = bytes.Cut(list, []byte(name))
	}
	fields := bytes.Fields(rest)
	if !ok || len(fields) == 0 {
		return 0
	}
	v, _ := strconv.ParseFloat(string(fields[0]), 64) // a list that doesn't say counts as nothing
	return v * 1024
}

// arena is how much of the receive buffers is resident. They are the only memory with MADV_NOHUGEPAGE, which
// smaps shows as nh, see proc_pid_smaps(5).
func arena() (bytes float64, err error) {
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		return 0, err
	}
	defer f.Close()
	var rss float64
	s := bufio.NewScanner(f)
	for s.Scan() {
		name, rest, _ := strings.Cut(s.Text(), ":")
		switch name {
		case "Rss":
			rss, _ = strconv.ParseFloat(strings.Fields(rest)[0], 64)
		case "VmFlags":
			if strings.Contains(rest+" ", " nh ") {
				bytes += rss * 1024
			}
		}
	}
	return bytes, s.Err()
}

// queued is the memory that the kernel counts for a socket: what it has received, what is to be sent, what
// is set aside for more, and options (SO_MEMINFO, Linux 4.12). 0 if fd is no socket.
func queued(fd int) (bytes float64) {
	var info [9]uint32 // SK_MEMINFO_VARS
	size := uint32(unsafe.Sizeof(info))
	_, _, errno := unix.Syscall6(unix.SYS_GETSOCKOPT, uintptr(fd), unix.SOL_SOCKET, unix.SO_MEMINFO,
		uintptr(unsafe.Pointer(&info)), uintptr(unsafe.Pointer(&size)), 0)
	if errno != 0 {
		return 0
	}
	for _, of := range []int{unix.SK_MEMINFO_RMEM_ALLOC, unix.SK_MEMINFO_WMEM_ALLOC, unix.SK_MEMINFO_FWD_ALLOC, unix.SK_MEMINFO_OPTMEM} {
		bytes += float64(info[of])
	}
	return bytes
}
