package memcachedtest

import (
	"bufio"
	"io"
	"slices"
	"strconv"
	"strings"
)

// maxAuthBytes is the longest credential that is read; memcached's limit depends on its
// version.
const maxAuthBytes = 1 << 16

// authenticate reads and answers requests as a server with -Y does, until one of them
// has brought a credential that Auth accepts. It reports whether that came. Requests
// that had come with a refused one are thrown away, as memcached does with what it has
// read.
func (sc *serverConn) authenticate(in *bufio.Reader) (ok bool) {
	for {
		line, err := readLine(in)
		if err != nil {
			return false
		}
		answer := "CLIENT_ERROR unauthenticated"
		t := tokens(line)
		size := -1
		if len(t) >= 5 && t[0] == "set" {
			if size, err = strconv.Atoi(t[4]); err != nil {
				size = -1
			}
		}
		switch {
		case size > maxAuthBytes:
			return false
		case size >= 0:
			body := make([]byte, size+2)
			if _, err := io.ReadFull(in, body); err != nil {
				return false
			}
			user, password, found := strings.Cut(string(body[:size]), " ")
			switch {
			case string(body[size:]) != "\r\n":
				answer = "CLIENT_ERROR bad command line termination"
			case !found:
				answer = "CLIENT_ERROR bad authentication token format"
			case sc.srv.opts.Auth(user, password):
				answer, ok = "STORED", true
			default:
				answer = "CLIENT_ERROR authentication failure"
			}
		}
		sc.srv.log.early(line)
		if _, err := io.WriteString(sc.c, answer+"\r\n"); err != nil || ok {
			return ok
		}
		_, _ = in.Discard(in.Buffered())
	}
}

// Unauthenticated are the command lines that came before their connection was
// authenticated, see ServerOptions.Auth, the one that did it included. They are not
// among Requests, and what their credentials were is not kept.
func (s *Server) Unauthenticated() []string {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	return slices.Clone(s.log.unauthenticated)
}

func (r *recorder) early(line string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.unauthenticated) < r.limit {
		r.unauthenticated = append(r.unauthenticated, line)
	}
	r.wake()
}
