package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"regexp"
	"time"

	"github.com/memring/memring/client"
)

var errUsage = errors.New("wrong usage")

// settings are the flags of a run.
type settings struct {
	forTime time.Duration
	seeds   uint64
	first   uint64
	engines []client.EngineKind
	faults  []fault
	callers int
	think   time.Duration
	length  time.Duration
	closes  int
	maxDebt int
}

const (
	// closesPerMinute is how many clients are closed under load for each minute of a run: 100,000 in the
	// ten minutes of the long form.
	closesPerMinute = 10_000
	defaultTime     = time.Minute
)

func parse(args []string, stderr io.Writer) (*settings, error) {
	s := &settings{}
	var engine, only string
	f := flag.NewFlagSet("torture", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.DurationVar(&s.forTime, "for", 0, "run for about this long; 0 is 1m, or as long as -seeds takes")
	f.Uint64Var(&s.seeds, "seeds", 0, "run this many seeds, each a round of -length; 0 is as many as fit in -for")
	f.Uint64Var(&s.first, "seed", 0, "the first seed; with -seeds 1 a failed one is run again")
	f.StringVar(&engine, "engine", "both", "uring, poll or both")
	f.StringVar(&only, "faults", "", "only the faults whose name matches this `regexp`; changes what seeds stand for")
	f.IntVar(&s.callers, "callers", 256, "goroutines that make calls")
	f.DurationVar(&s.think, "think", 10*time.Millisecond, "what most of them wait between calls, on average")
	f.DurationVar(&s.length, "length", 2*time.Second, "length of a round; some faults take longer")
	f.IntVar(&s.maxDebt, "maxdebt", -1, "Config.MaxDebt where servers answer in the end; -1 is no bound, 0 is the client's default")
	f.IntVar(&s.closes, "closes", -1, "clients to close under load; -1 is 10000 for each minute of -for, 0 is none")
	if err := f.Parse(args); errors.Is(err, flag.ErrHelp) {
		return nil, err
	} else if err != nil {
		return nil, errUsage
	}
	fail := func(format string, a ...any) (*settings, error) {
		fmt.Fprintf(stderr, "torture: "+format+"\n", a...)
		return nil, errUsage
	}
	switch {
	case f.NArg() > 0:
		return fail("%q is not understood; the flags are listed by -h", f.Arg(0))
	case s.forTime < 0 || s.callers < 1 || s.think < 0 || s.length <= 0 || s.closes < -1:
		return fail("a number is out of range; the flags are listed by -h")
	case s.forTime > 0 && s.seeds > 0:
		return fail("-for and -seeds cannot be had together")
	}
	if s.forTime == 0 && s.seeds == 0 {
		s.forTime = defaultTime
	}
	if s.closes < 0 {
		s.closes = int(s.forTime.Minutes() * closesPerMinute)
	}
	switch engine {
	case "uring":
		s.engines = []client.EngineKind{client.URing}
	case "poll":
		s.engines = []client.EngineKind{client.Poll}
	case "both":
		s.engines = []client.EngineKind{client.URing, client.Poll}
	default:
		return fail("-engine is uring, poll or both, not %q", engine)
	}
	re, err := regexp.Compile(only)
	if err != nil {
		return fail("-faults: %v", err)
	}
	for _, f := range faults() {
		if re.MatchString(f.name) {
			s.faults = append(s.faults, f)
		}
	}
	if len(s.faults) == 0 {
		return fail("no fault matches %q", only)
	}
	return s, nil
}
