package client

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/memring/memring/client/internal/direct"
)

// maxCommand is how long a command line may be: the server closes the connection
// on which so many bytes have come without its end.
const maxCommand = 2048

// commandLine joins words, once it is sure that they make a line of so many words
// and no more.
func commandLine(words []string) (string, error) {
	line := strings.Join(words, " ")
	for i, w := range words {
		if err := checkKey(w); err != nil { // the same characters would break the line
			why := strings.TrimPrefix(err.Error(), ErrKey.Error()+": ")
			return "", fmt.Errorf("%w: word %d of the command: %s", ErrArgument, i, why)
		}
	}
	if len(line)+len(crlf) > maxCommand {
		return "", fmt.Errorf("%w: the command has more than %d bytes", ErrArgument, maxCommand)
	}
	return line, nil
}

// checkStats refuses a group of statistics whose reply nobody can tell the end of:
// it is one STAT line, or two, and no END behind them.
func checkStats(args []string) error {
	if len(args) > 0 && (args[0] == "sizes_enable" || args[0] == "sizes_disable") {
		return fmt.Errorf("%w: the reply to stats %s has no end; start the server with -o track_sizes", ErrArgument, args[0])
	}
	return nil
}

// askDirect is [direct.Ask].
func askDirect(ctx context.Context, client any, l direct.Line) (string, map[string]string, error) {
	cl, v := client.(*Client), verbLine
	if l.Answers == nil {
		v = verbStats
	}
	o, err := cl.take(ctx, v, "")
	if err != nil {
		return "", nil, renamed(err, l.Op)
	}
	x := o.extra()
	if x.args, err = commandLine(l.Words); err == nil && v == verbStats {
		x.args = strings.TrimPrefix(x.args, "stats")
		err = checkStats(l.Words[1:])
	}
	if err != nil {
		return "", nil, renamed(o.refuse(err), l.Op)
	}
	x.answers = l.Answers
	srv := cl.servers[l.Server]
	if err := cl.do(ctx, cl.deadline(ctx), srv, o); err != nil {
		return "", nil, renamed(err, l.Op)
	}
	line, stats := x.line, x.stats
	return line, stats, renamed(o.finish(srv), l.Op)
}

// renamed gives the operation of an error the name that it has for users.
func renamed(err error, op string) error {
	var e *OpError
	if !errors.As(err, &e) {
		return err
	}
	named := *e
	named.Op = op
	return &named
}
