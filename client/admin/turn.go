package admin

import (
	"context"
	"errors"
	"time"

	"github.com/memring/memring/client/internal/direct"
)

// longestPause is how long a crawler that has become free waits for us at most.
const longestPause = 100 * time.Millisecond

// turn sends the command of a dump and returns the stream with the first line of what
// is dumped. For as long as the server has no time for it, it asks again: the crawler
// works for itself now and then, so that one who asks once fails by chance. Each
// attempt has a connection of its own, as it is not said anywhere what the server does
// with one that it has turned away.
func (s *Server) turn(ctx context.Context, l direct.Line) (direct.Stream, []byte, error) {
	begun := time.Now()
	for pause := time.Millisecond; ; pause = min(2*pause, longestPause) {
		st, err := direct.Open(ctx, s.c, l)
		if err != nil {
			return nil, nil, err
		}
		line, err := st.Next(true)
		if err == nil && string(line) == "OK" { // from 1.6.43 on
			line, err = st.Next(true)
		}
		switch {
		case err != nil:
			st.Close()
			return nil, nil, err
		case !errors.Is(refusalOf(string(line)), ErrBusy) || !st.Pause(begun, pause):
			return st, line, nil
		}
		st.Close()
	}
}
