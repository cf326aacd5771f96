package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/memring/memring/bench/internal/cases"
	"github.com/memring/memring/bench/internal/report"
)

// errUsage ends the program with the flag package's own message.
var errUsage = errors.New("wrong usage")

// settings are the flags of a run.
type settings struct {
	quick      bool
	list       bool
	jsonFile   string
	htmlFile   string
	port       int
	rounds     int
	slice      time.Duration
	gomaxprocs int
	conns      int
	rings      int
	rate       float64
	cases      []cases.Case
	command    string
	saved      []report.Setting // what the flags amount to, for the report
}

// What a run does unless flags say otherwise: about twelve minutes, or under one.
const (
	fullRounds, fullSlice   = 9, 350 * time.Millisecond
	quickRounds, quickSlice = 3, 160 * time.Millisecond
)

func parse(args []string, stderr io.Writer) (*settings, error) {
	s := &settings{command: typed(args)}
	var only, clients string
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.BoolVar(&s.quick, "quick", false, "a shorter run: fewer cases, rounds and operations, under a minute")
	f.BoolVar(&s.list, "list", false, "list the cases and clients and end")
	f.StringVar(&s.jsonFile, "json", "", "save the run to this `file`, for the commands report, charts and compare")
	f.StringVar(&s.htmlFile, "html", "", "write the report with its charts to this `file`")
	f.StringVar(&only, "cases", "", "run only the cases whose name/network/callers matches this `regexp`")
	f.StringVar(&clients, "clients", "", "run only the clients whose name matches this `regexp`")
	f.IntVar(&s.rounds, "rounds", 0, "interleaved rounds; 0 is 9, or 3 with -quick")
	f.DurationVar(&s.slice, "slice", 0, "length of one client's turn in one case; 0 is 350ms, or 160ms with -quick")
	f.IntVar(&s.gomaxprocs, "gomaxprocs", runtime.GOMAXPROCS(0), "GOMAXPROCS of the clients' processes")
	f.IntVar(&s.port, "port", 0, "TCP port for memcached; 0 is a free one")
	f.IntVar(&s.conns, "conns", 0, "connections of the clients that share them; 0 is each one's default")
	f.IntVar(&s.rings, "rings", 0, "memring's rings; 0 is its default")
	f.Float64Var(&s.rate, "rate", 0, "requests a second of all callers together, their latency counted from when they were due; 0: each caller waits for its reply")
	f.Usage = func() {
		fmt.Fprintln(stderr, "usage: bench [flags], or bench COMMAND, of which there are:")
		for _, c := range commands {
			fmt.Fprintf(stderr, "  %-34s %s\n", c.usage, c.what)
		}
		fmt.Fprintf(stderr, "  GROUP [flags]                      run one group of cases: %s\n", strings.Join(cases.Groups, ", "))
		fmt.Fprintln(stderr, "flags:")
		f.PrintDefaults()
	}
	var group string
	if len(args) > 0 && slices.Contains(cases.Groups, args[0]) {
		group, args = args[0], args[1:]
	}
	if err := f.Parse(args); errors.Is(err, flag.ErrHelp) {
		return nil, err
	} else if err != nil {
		return nil, errUsage
	}
	fail := func(format string, a ...any) (*settings, error) {
		fmt.Fprintf(stderr, "bench: "+format+"\n", a...)
		return nil, errUsage
	}
	if f.NArg() > 0 {
		return fail("%q is not understood; the flags are listed by -h", f.Arg(0))
	}
	if s.rounds < 0 || s.slice < 0 || s.gomaxprocs < 1 || s.conns < 0 || s.rate < 0 || s.rings < 0 || s.port < 0 || s.port > 65535 {
		return fail("a number is out of range; the flags are listed by -h")
	}
	onlyRE, err := optional(only)
	if err != nil {
		return fail("-cases: %v", err)
	}
	clientsRE, err := optional(clients)
	if err != nil {
		return fail("-clients: %v", err)
	}
	rounds, slice := fullRounds, fullSlice
	if s.quick {
		rounds, slice = quickRounds, quickSlice
	}
	if s.rounds == 0 {
		s.rounds = rounds
	}
	if s.slice == 0 {
		s.slice = slice
	}
	suite := cases.Suite(s.quick)
	if group != "" {
		suite = cases.OfGroup(suite, group)
	}
	if s.cases = cases.Select(suite, onlyRE, clientsRE); len(s.cases) == 0 {
		return fail("no case is left; -list shows what there is")
	}
	f.VisitAll(func(f *flag.Flag) {
		if !slices.Contains(changeNothing, f.Name) {
			s.saved = append(s.saved, report.Setting{Name: f.Name, Value: f.Value.String()})
		}
	})
	if s.rate > 0 {
		cases.AtRate(s.cases, s.rate)
	}
	return s, nil
}

// changeNothing are the flags that have no influence on what is measured.
var changeNothing = []string{"html", "json", "list", "port"}

// plain is what a shell takes as it stands.
var plain = regexp.MustCompile(`^[\w@%+=:,./-]+$`)

// typed is what to type for these arguments, in bench's folder.
func typed(args []string) string {
	words := []string{"go", "run", "."}
	for _, a := range args {
		if !plain.MatchString(a) {
			a = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
		words = append(words, a)
	}
	return strings.Join(words, " ")
}

func optional(expr string) (*regexp.Regexp, error) {
	if expr == "" {
		return nil, nil
	}
	return regexp.Compile(expr)
}
