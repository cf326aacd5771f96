package client

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// BatchError is the error of a call for many items of which some have failed.
// [errors.Is] and [errors.As] look at all of them, [SafeToRetry] says whether those
// that failed can be repeated.
type BatchError struct {
	Op   string  // "set multi", …
	Errs []error // by the call's items: each one's error, nil if it has none
}

// maxCauses is how many different causes an error text has.
const maxCauses = 3

// Error says how many have failed, and the most frequent causes with the servers
// they concern. Like all errors it has no keys.
func (e *BatchError) Error() string {
	count := make(map[string]int)
	failed := 0
	for _, err := range e.Errs {
		if err != nil {
			count[strings.TrimPrefix(err.Error(), "memring: ")]++
			failed++
		}
	}
	causes := make([]string, 0, len(count))
	for c := range count {
		causes = append(causes, c)
	}
	slices.SortFunc(causes, func(a, b string) int { return cmp.Or(count[b]-count[a], cmp.Compare(a, b)) })
	var s strings.Builder
	fmt.Fprintf(&s, "memring: %s: %d of %d failed", e.Op, failed, len(e.Errs))
	for i, c := range causes {
		if i == maxCauses {
			fmt.Fprintf(&s, "; and %d other causes", len(causes)-i)
			break
		}
		fmt.Fprintf(&s, "%s%d × %s", []string{": ", "; "}[min(i, 1)], count[c], c)
	}
	return s.String()
}

// Unwrap returns the different errors that there are.
func (e *BatchError) Unwrap() []error {
	var list []error
	seen := make(map[error]bool)
	for _, err := range e.Errs {
		if err != nil && !seen[err] {
			seen[err] = true
			list = append(list, err)
		}
	}
	return list
}

// Except returns err without those errors of a [BatchError] that match one of
// targets, and nil if no other is left: a DeleteMulti that need not find its keys is
// in order if Except(err, ErrNotFound) is nil. Of errors joined with a BatchError each
// is looked at for itself. Of any other error it returns nil if it matches, and else
// the error itself.
func Except(err error, targets ...error) error {
	match := func(err error) bool {
		return slices.ContainsFunc(targets, func(t error) bool { return errors.Is(err, t) })
	}
	var batch *BatchError
	if !errors.As(err, &batch) {
		if match(err) {
			return nil
		}
		return err
	}
	switch e := err.(type) { //nolint:errorlint // errors.As stops at the first
	case *BatchError:
		return e.except(match)
	case interface{ Unwrap() []error }:
		var left []error
		for _, err := range e.Unwrap() {
			left = append(left, Except(err, targets...))
		}
		return errors.Join(left...)
	case interface{ Unwrap() error }:
		return Except(e.Unwrap(), targets...)
	}
	return batch.except(match)
}

func (e *BatchError) except(match func(error) bool) error {
	left := &BatchError{Op: e.Op, Errs: slices.Clone(e.Errs)}
	some := false
	for i, err := range left.Errs {
		switch {
		case err == nil:
		case match(err):
			left.Errs[i] = nil
		default:
			some = true
		}
	}
	if !some {
		return nil
	}
	return left
}

// results are the errors of a call's entries, by number.
type results struct {
	op   string
	n    int
	errs []error // nil: there were none
}

// set notes how an entry has ended. That may come twice, and then the second counts: a
// server's refusal is asked for anew if what was to be sent before it was not, and the
// next connection's server may be another.
func (r *results) set(entry int, err error) {
	if r.errs == nil {
		if err == nil {
			return
		}
		r.errs = make([]error, r.n)
	}
	r.errs[entry] = err
}

// fail gives entries the same error.
func (r *results) fail(v verb, srv *server, entries []int, err error, outcome Outcome) {
	e := &OpError{Op: v.String(), Err: err, Outcome: outcome}
	if srv != nil {
		e.Server = srv.name
	}
	for _, entry := range entries {
		r.set(entry, e)
	}
}

func (r *results) err() error {
	if !slices.ContainsFunc(r.errs, func(err error) bool { return err != nil }) {
		return nil
	}
	return &BatchError{Op: r.op, Errs: r.errs}
}
