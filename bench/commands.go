package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"

	"github.com/memring/memring/bench/internal/compare"
	"github.com/memring/memring/bench/internal/page"
	"github.com/memring/memring/bench/internal/report"
)

// command is one of the commands beside the benchmark itself.
type command struct {
	name  string
	usage string
	what  string
	run   func(args []string, stdout io.Writer, stderr *os.File) error
}

var commands []command

func init() { // in a variable's declaration it would refer to itself: parse lists the commands
	commands = []command{
		{"report", "report RUN.json [-o FILE.html]", "print a saved run's tables, or write its page", reportSaved},
		{"charts", "charts RUN.json [-dir DIR]", "write a saved run's charts as SVG files", chartsSaved},
		{"compare", "compare OLD.json NEW.json", "print what differs between two saved runs, and how surely", compareSaved},
	}
}

// reportSaved makes a report from a saved run.
func reportSaved(args []string, stdout io.Writer, stderr *os.File) error {
	f := flag.NewFlagSet("bench report", flag.ContinueOnError)
	name := f.String("o", "", "write the page to this `file` instead of printing the tables")
	runs, err := saved(f, args, 1, stderr)
	if err != nil {
		return err
	}
	if *name == "" {
		return runs[0].Text(stdout)
	}
	file, err := os.Create(*name)
	if err != nil {
		return err
	}
	return errors.Join(page.Write(file, runs[0]), file.Close())
}

// chartsSaved draws a saved run.
func chartsSaved(args []string, stdout io.Writer, stderr *os.File) error {
	f := flag.NewFlagSet("bench charts", flag.ContinueOnError)
	dir := f.String("dir", ".", "write the charts to this `folder`, which is made if there is none")
	which := f.String("only", "", "write only the charts whose name matches this `regexp`")
	runs, err := saved(f, args, 1, stderr)
	if err != nil {
		return err
	}
	only, err := regexp.Compile(*which)
	if err != nil {
		return fmt.Errorf("-only: %w", err)
	}
	if err := os.MkdirAll(*dir, 0o755); err != nil {
		return err
	}
	names, err := page.Charts(*dir, only, runs[0])
	for _, name := range names {
		fmt.Fprintln(stdout, name)
	}
	return err
}

// compareSaved compares two saved runs.
func compareSaved(args []string, stdout io.Writer, stderr *os.File) error {
	runs, err := saved(flag.NewFlagSet("bench compare", flag.ContinueOnError), args, 2, stderr)
	if err != nil {
		return err
	}
	return compare.Write(stdout, runs[0], runs[1])
}

// saved parses the flags, which may stand before and after the files' names, and reads so many files.
func saved(f *flag.FlagSet, args []string, n int, stderr io.Writer) ([]*report.Saved, error) {
	f.SetOutput(stderr)
	var names []string
	for {
		if err := f.Parse(args); errors.Is(err, flag.ErrHelp) {
			return nil, err
		} else if err != nil {
			return nil, errUsage
		}
		if f.NArg() == 0 {
			break
		}
		names, args = append(names, f.Arg(0)), f.Args()[1:]
	}
	if len(names) != n {
		fmt.Fprintf(stderr, "%s: %d saved run(s) wanted, not %d\n", f.Name(), n, len(names))
		return nil, errUsage
	}
	var runs []*report.Saved
	for _, name := range names {
		run, err := read(name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		runs = append(runs, run)
	}
	return runs, nil
}

func read(name string) (*report.Saved, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return report.Read(file)
}
