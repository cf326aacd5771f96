package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/memring/memring/client"
)

var errUsage = errors.New("wrong usage")

// settings are the flags of a run.
type settings struct {
	parts   []string
	forTime time.Duration
	seeds   uint64
	rounds  uint64
	first   uint64
	goTool  string

	anyEngine bool // those that there are will do
	engines   []client.EngineKind
	faults    []fault
	callers   int
	think     time.Duration
	length    time.Duration
	closes    int
	maxDebt   int

	same string // the flags without which a seed is not the same round
}

// The parts in the order they run in: what is quick to find faults comes first.
var partNames = []string{"simulation", "fakekernel", "closes", "servers"}

// closesPerMinute is how many clients are closed under load for each minute of a run, if there is time for so
// many: 100,000 in the ten minutes of the long form.
const closesPerMinute = 10_000

func parse(args []string, stderr io.Writer) (*settings, error) {
	s := &settings{}
	var engine, faultNames, parts string
	f := flag.NewFlagSet("torture", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&parts, "parts", strings.Join(partNames, ","), "what to run, in this order")
	f.DurationVar(&s.forTime, "for", time.Minute, "what parts without a number of their own share: how long they run in all, about")
	f.Uint64Var(&s.seeds, "seeds", 0, "run so many seeds of simulation and of fakekernel each; 0 is as many as there is time for")
	f.Uint64Var(&s.rounds, "rounds", 0, "run so many rounds of servers, each a seed; 0 is as many as there is time for")
	f.IntVar(&s.closes, "closes", -1, "clients to close under load; -1 is 10000 for each minute of -for, if there is time for them")
	f.Uint64Var(&s.first, "seed", 0, "the first seed of each part; 0 is 1 where there is a number, and one from the clock where there is a time")
	f.StringVar(&s.goTool, "go", "go", "the go command, which builds simulation and fakekernel")
	f.StringVar(&engine, "engine", "any", "of closes and servers: uring, poll, both, or any of these that there is")
	f.StringVar(&faultNames, "faults", "", "of servers: only those whose name matches this `regexp`; changes what seeds stand for")
	f.IntVar(&s.callers, "callers", 256, "of servers: goroutines that make calls")
	f.DurationVar(&s.think, "think", 10*time.Millisecond, "of servers: what most callers wait between calls, on average")
	f.DurationVar(&s.length, "length", 2*time.Second, "of servers: length of a round; some faults take longer")
	f.IntVar(&s.maxDebt, "maxdebt", -1, "of servers: Config.MaxDebt where they answer in the end; -1 is no bound, 0 is the client's default")
	if err := f.Parse(args); errors.Is(err, flag.ErrHelp) {
		return nil, err
	} else if err != nil {
		return nil, errUsage
	}
	f.Visit(func(f *flag.Flag) {
		switch f.Name {
		case "engine", "faults", "callers", "think", "length", "maxdebt":
			s.same += fmt.Sprintf(" -%s '%v'", f.Name, f.Value)
		}
	})
	fail := func(format string, a ...any) (*settings, error) {
		fmt.Fprintf(stderr, "torture: "+format+"\n", a...)
		return nil, errUsage
	}
	switch {
	case f.NArg() > 0:
		return fail("%q is not understood; the flags are listed by -h", f.Arg(0))
	case s.forTime <= 0 || s.callers < 1 || s.think < 0 || s.length <= 0 || s.closes < -1:
		return fail("a number is out of range; the flags are listed by -h")
	}
	wanted := strings.Split(parts, ",")
	for _, name := range partNames {
		if slices.Contains(wanted, name) {
			s.parts = append(s.parts, name)
		}
	}
	for _, name := range wanted {
		if !slices.Contains(partNames, name) {
			return fail("-parts are of %s, not %q", strings.Join(partNames, ","), name)
		}
	}
	switch engine {
	case "uring":
		s.engines = []client.EngineKind{client.URing}
	case "poll":
		s.engines = []client.EngineKind{client.Poll}
	case "both", "any":
		s.engines = []client.EngineKind{client.URing, client.Poll}
		s.anyEngine = engine == "any"
	default:
		return fail("-engine is uring, poll, both or any, not %q", engine)
	}
	re, err := regexp.Compile(faultNames)
	if err != nil {
		return fail("-faults: %v", err)
	}
	for _, f := range faults() {
		if re.MatchString(f.name) {
			s.faults = append(s.faults, f)
		}
	}
	if len(s.faults) == 0 {
		return fail("no fault matches %q", faultNames)
	}
	return s, nil
}
