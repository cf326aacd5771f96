package servers

import (
	"bufio"
	"fmt"
	"net"
	"time"

	"github.com/memring/memring/bench/internal/cases"
)

// Seed stores the values of every size that is read.
func Seed(network, addr string, sizes []int) error {
	conn, err := net.Dial(network, addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(startWait)); err != nil {
		return err
	}
	in := bufio.NewReader(conn)
	for _, size := range sizes {
		for i := range cases.KeyCount(size) {
			key := cases.Key(size, i)
			req := fmt.Appendf(nil, "set %s 0 0 %d\r\n", key, size)
			req = append(cases.AppendValue(req, key, size), "\r\n"...)
			if _, err := conn.Write(req); err != nil {
				return err
			}
			line, err := in.ReadString('\n')
			if err != nil {
				return err
			}
			if line != "STORED\r\n" {
				return fmt.Errorf("storing the first values: memcached answered %q", line)
			}
		}
	}
	return nil
}
