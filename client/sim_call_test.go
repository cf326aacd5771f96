package client_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"time"

	"github.com/memring/memring/client"
)

// simSlack is how much later than its deadline a call may return, in virtual
// time: the engine looks at contexts once a millisecond.
const simSlack = 3 * time.Millisecond

var errSimWhim = errors.New("the caller has changed its mind")

// simCall is one call from its start to its check.
type simCall struct {
	s       *sim
	invoked int64 // logical
	started time.Time
	allow   time.Duration // that the caller itself took in between
	ctx     context.Context
	cancel  func()
	cause   error // of the cancellation, or nil if there will be none

	deadline, canceled time.Time // when it must have returned
	earliest           time.Time // when it may time out, if that is not at deadline
	quiet              bool      // an error line may be another request's of the same call
	twice              bool      // two requests, of which the first one may have been answered

	gaveUp bool // before an answer to what was sent
}

// begin draws a context for a call.
func (s *sim) begin(r *rand.Rand) *simCall {
	now := time.Now()
	c := &simCall{s: s, started: now, ctx: context.Background(), cancel: func() {}, deadline: now.Add(s.config.OpTimeout)}
	patience := simSpan(r, 2*s.config.OpTimeout)
	switch r.IntN(6) {
	case 0, 1:
		if r.IntN(20) == 0 {
			patience = 0
		}
		if at := now.Add(patience); at.Before(c.deadline) {
			c.deadline = at
		}
		c.ctx, c.cancel = context.WithTimeout(c.ctx, patience)
	case 2, 3:
		ctx, cancel := context.WithCancelCause(c.ctx)
		c.ctx, c.cause, c.canceled = ctx, simPick(r, context.Canceled, errSimWhim), now.Add(patience)
		timer := time.AfterFunc(patience, func() { cancel(c.cause) })
		c.cancel = func() { timer.Stop(); cancel(nil) }
	}
	c.invoked = s.tick()
	return c
}

// end checks that the call returned in time and that its error, which may be
// several joined, is a documented one that fits. It ends the call's context.
func (c *simCall) end(what string, err error) {
	now := time.Now()
	limit := c.deadline
	if c.cause != nil && c.canceled.Before(limit) {
		limit = c.canceled
	}
	if at := c.s.closed(); at.After(c.started) && at.Before(limit) {
		limit = at
	}
	if late := now.Sub(limit) - c.allow; late > simSlack {
		c.s.hang("%s returned %v too late: %v", what, late, err)
	}
	c.cancel()
	var joined interface{ Unwrap() []error }
	if _, isOp := err.(*client.OpError); !isOp && errors.As(err, &joined) { //nolint:errorlint // is it one, or are they joined?
		for _, err := range joined.Unwrap() {
			c.judge(what, err, now)
		}
		return
	}
	c.judge(what, err, now)
}

func (c *simCall) judge(what string, err error, now time.Time) {
	if err == nil {
		return
	}
	broken := func(why string) { c.s.broken("%s: %s: %v", what, why, err) }
	var op *client.OpError
	if !errors.As(err, &op) || op.Op == "" {
		broken("no OpError")
		return
	}
	if client.SafeToRetry(err) != (op.Outcome == client.NotSent) {
		broken("SafeToRetry contradicts Outcome")
	}
	answered := op.Outcome == client.Answered
	is := func(target error) bool { return errors.Is(err, target) }
	switch {
	case is(client.ErrNotFound), is(client.ErrNotStored), is(client.ErrConflict), is(client.ErrServer), is(client.ErrNotModified):
		if !answered && !(c.quiet && is(client.ErrServer)) {
			broken("an answer whose outcome is unknown")
		}
		if is(client.ErrServer) && c.s.level < simLossy {
			broken("nobody answered so")
		}
	case answered:
		broken("answered, but no answer")
	case is(client.ErrClosed):
		if c.s.closed().IsZero() {
			broken("the client is open")
		}
	case is(client.ErrTimeout):
		c.gaveUp = op.Outcome == client.Unknown
		if now.Before(c.deadline) && (c.earliest.IsZero() || now.Before(c.earliest)) {
			broken("before the deadline")
		}
		if !op.Timeout() || !is(context.DeadlineExceeded) {
			broken("a timeout that does not look like one")
		}
	case c.cause != nil && is(c.cause):
		c.gaveUp = op.Outcome == client.Unknown
		if now.Before(c.canceled) {
			broken("before the cancellation")
		}
	case is(client.ErrUnavailable):
		if op.Outcome != client.NotSent && !c.twice {
			broken("sent to a server that was unavailable")
		}
		if c.s.level == simClean {
			broken("the server is there")
		}
	case is(client.ErrConnLost):
		if is(client.ErrDesync) && c.s.forged.Load() == 0 {
			broken("no reply was forged")
		}
		if c.s.gentle() {
			broken("nothing breaks connections")
		}
	default:
		broken("undocumented error")
	}
}

// outcome is what a call says of its request, for the ledger and the model.
func simOutcome(err error) client.Outcome {
	var op *client.OpError
	if errors.As(err, &op) {
		return op.Outcome
	}
	return client.Answered
}

// effect says what a changing call's error means for the key, if some error is
// the answer that refuses the change.
func (s *sim) effect(err error) simEffect {
	switch {
	case err == nil:
		return simSure
	case simOutcome(err) == client.NotSent:
		return simNone
	case errors.Is(err, client.ErrServer) && s.level == simHostile:
		return simMaybe // error lines carry no opaque, so it may be another request's
	case simOutcome(err) == client.Answered:
		return simNone
	}
	return simMaybe
}

// settle books a call with one request in the ledger and checks that the server
// has answered so.
func (c *simCall) settle(tag string, err error, fits func(simFact) bool) {
	outcome := simOutcome(err)
	c.s.ledger.count(tag, outcome != client.NotSent, outcome == client.Answered)
	if outcome != client.Answered {
		return
	}
	var line *client.ServerError
	if errors.As(err, &line) {
		if c.s.level == simHostile {
			return
		}
		fits = func(f simFact) bool { return f.status == line.Line }
	}
	if !c.s.ledger.match(tag, c.invoked, fits) {
		c.s.wrong("%.60q: the server has not answered what was returned (error %v)", tag, err)
	}
}

// status is the fits of replies without a value.
func simStatus(statuses ...string) func(simFact) bool {
	return func(f simFact) bool {
		for _, s := range statuses {
			if f.status == s {
				return true
			}
		}
		return false
	}
}

// guard turns a panic of a caller into a failure with the seed.
func (s *sim) guard() {
	if p := recover(); p != nil {
		buf := make([]byte, 16<<10)
		s.broken("panic: %v\n%s", p, buf[:runtime.Stack(buf, false)])
	}
}
