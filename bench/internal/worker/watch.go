package worker

import (
	"bufio"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/memring/memring/bench/internal/cases"
)

// watch is the benchmark's own connection to the server, beside the client's. It reads how many
// connections were opened, and asks the stand-in for its stall.
type watch struct {
	conn net.Conn
	in   *bufio.Reader
}

// watchWait is how long an answer may take: the stand-in delays none of these.
const watchWait = 5 * time.Second

func openWatch(network, addr string) (*watch, error) {
	conn, err := net.Dial(network, addr)
	if err != nil {
		return nil, err
	}
	return &watch{conn, bufio.NewReader(conn)}, nil
}

func (w *watch) close() { _ = w.conn.Close() } // nothing was promised on it

// run follows a slice interval by interval, until its end.
func (w *watch) run(s *series, begin time.Time, f cases.Faults) error {
	before, err := w.opened()
	if err != nil {
		return err
	}
	for i := range s.cells {
		if at := time.Duration(i) * s.every; f.Stall > 0 && at <= f.StallAt && f.StallAt < at+s.every {
			time.Sleep(time.Until(begin.Add(f.StallAt)))
			if _, err := w.ask(fmt.Sprintf("stall %d", f.Stall.Milliseconds()), "OK"); err != nil {
				return err
			}
		}
		time.Sleep(time.Until(begin.Add(time.Duration(i+1) * s.every)))
		now, err := w.opened()
		if err != nil {
			return err
		}
		s.cells[i].dials, before = now-before, now
	}
	return nil
}

// opened returns how many connections the server has accepted since it started.
func (w *watch) opened() (uint64, error) {
	const stat = "STAT total_connections "
	lines, err := w.ask("stats", "END")
	for _, line := range lines {
		if n, ok := strings.CutPrefix(line, stat); ok && err == nil {
			return strconv.ParseUint(n, 10, 64)
		}
	}
	if err == nil {
		err = fmt.Errorf("the server's statistics have no %q", stat)
	}
	return 0, err
}

// ask sends a command and returns the lines of its answer, the last included.
func (w *watch) ask(command, last string) (lines []string, err error) {
	if err := w.conn.SetDeadline(time.Now().Add(watchWait)); err != nil {
		return nil, err
	}
	if _, err := fmt.Fprintf(w.conn, "%s\r\n", command); err != nil {
		return nil, err
	}
	for {
		line, err := w.in.ReadString('\n')
		if err != nil {
			return nil, err
		}
		line = strings.TrimRight(line, "\r\n")
		if lines = append(lines, line); line == last {
			return lines, nil
		}
		if strings.Contains(line, "ERROR") {
			return nil, fmt.Errorf("the server answered %q to %q", line, command)
		}
	}
}
