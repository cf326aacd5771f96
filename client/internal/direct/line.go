package direct

import (
	"context"
	"time"
)

// Line is a command that is one line, to one server.
type Line struct {
	Op     string   // what errors call it
	Server int      // index in the list that client.New was given
	Words  []string // the line's; refused if one is no word

	// Answers is what the reply can begin with, see reader.Expect; nil if it is
	// one of statistics.
	Answers []string
}

var (
	// Ask carries l out on one of the connections that all calls share and returns
	// the line of the reply, or the statistics, which are the caller's own. cl is a
	// *client.Client; errors are its methods'.
	Ask func(ctx context.Context, cl any, l Line) (line string, stats map[string]string, err error)

	// Open sends l on a connection of its own, which lives until it is closed, ctx
	// ends or the client is closed.
	Open func(ctx context.Context, cl any, l Line) (Stream, error)
)

// Stream is a connection that a command has taken over. All is read in the
// caller's goroutine, as fast as the caller wants it.
type Stream interface {
	// Next returns the next line without its end, which is valid until the call
	// after it. If bound is true it waits no longer than Config.StallLimit for more
	// of it to come. The stream is over after an error.
	Next(bound bool) ([]byte, error)

	// Pause waits for d, but no longer than until something other than its caller ends
	// the stream. It is false at once if that is later than Config.StallLimit allows a
	// wait that has begun then.
	Pause(begun time.Time, d time.Duration) bool

	// Fail makes the error of what the server has said.
	Fail(err error) error

	// Close returns when nothing of the stream is left.
	Close()
}
