package admin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/internal/direct"
)

// Server administers one server of a client. Its methods may be called from any
// goroutine, and end when the client is closed. Make it with [Of] or [All].
type Server struct {
	c     *client.Client
	index int
	name  string
}

// Of returns the server of c that has the address addr, spelt as [client.New] was
// given it. It sends nothing. The error is an [client.ErrArgument] if there is no
// such server, and [client.ErrNilClient] if there is no client.
func Of(c *client.Client, addr string) (*Server, error) {
	all, err := All(c)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(all, func(s *Server) bool { return s.name == addr })
	if i < 0 {
		return nil, fmt.Errorf("memring: %w: the address is none of the %d that client.New was given (spell it as there)",
			client.ErrArgument, len(all))
	}
	return all[i], nil
}

// All returns every server of c, in the order in which [client.New] was given
// them. It sends nothing.
func All(c *client.Client) ([]*Server, error) {
	names := c.Servers()
	if len(names) == 0 {
		return nil, client.ErrNilClient
	}
	all := make([]*Server, len(names))
	for i, name := range names {
		all[i] = &Server{c, i, name}
	}
	return all, nil
}

// Addr is the server's address as it was given to [client.New].
func (s *Server) Addr() string { return s.name }

// Version asks for the server's version, such as 1.6.18.
func (s *Server) Version(ctx context.Context) (string, error) {
	line, err := s.ask(ctx, []string{"VERSION"}, "version")
	return strings.TrimPrefix(line, "VERSION "), err
}

// do sends a command that is answered with OK, or with one of refusals.
func (s *Server) do(ctx context.Context, refusals []string, words ...string) error {
	_, err := s.ask(ctx, append([]string{"OK"}, refusals...), words...)
	return err
}

// ask sends a command that is one line and returns the answer, which is one of
// answers; but one that says no is returned as an error.
func (s *Server) ask(ctx context.Context, answers []string, words ...string) (string, error) {
	op := opOf(words)
	line, _, err := direct.Ask(ctx, s.c, direct.Line{Op: op, Server: s.index, Words: words, Answers: answers})
	if err == nil {
		if err = refusalOf(line); err == nil {
			return line, nil
		}
		return "", &client.OpError{Op: op, Server: s.name, Err: err}
	}
	return "", named(err)
}

// stats asks for a group of statistics.
func (s *Server) stats(ctx context.Context, group ...string) (map[string]string, error) {
	words := append([]string{"stats"}, group...)
	_, raw, err := direct.Ask(ctx, s.c, direct.Line{Op: opOf(words), Server: s.index, Words: words})
	if err != nil {
		return nil, named(err)
	}
	if raw == nil {
		raw = map[string]string{}
	}
	return raw, nil
}

// opOf is what errors call a command: its name and its subcommand's, without what
// else there may be among the words.
func opOf(words []string) string {
	n := 1
	switch words[0] {
	case "lru", "lru_crawler", "slabs":
		n = 2
	}
	return strings.Join(words[:n], " ")
}

// refuse is the error of a call whose arguments can't be sent.
func (s *Server) refuse(op, why string) error {
	return &client.OpError{
		Op: op, Server: s.name, Outcome: client.NotSent, Err: fmt.Errorf("%w: %s", client.ErrArgument, why),
	}
}

// named puts the package's own name for an error line of the server into err, which
// is the caller's alone.
func named(err error) error {
	var op *client.OpError
	var line *client.ServerError
	if errors.As(err, &op) && errors.As(err, &line) {
		if own := refusalOf(line.Line); own != nil {
			op.Err = own
		}
	}
	return err
}
