package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/memring/memring/bench/internal/page"
	"github.com/memring/memring/bench/internal/report"
)

// output is the files of a run.
type output struct{ json, html *os.File } // nil: not wanted

// create opens the files before minutes of work, not after. What an earlier run has left in them stays
// until this one has something better.
func create(s *settings) (o output, err error) {
	for _, f := range []struct {
		name string
		to   **os.File
	}{{s.jsonFile, &o.json}, {s.htmlFile, &o.html}} {
		if f.name == "" {
			continue
		}
		if *f.to, err = os.OpenFile(f.name, os.O_WRONLY|os.O_CREATE, 0o644); err != nil {
			return o, errors.Join(err, o.close())
		}
	}
	return o, nil
}

// write fills the files and says where they are.
func (o output) write(run *report.Saved, stdout io.Writer) error {
	for _, f := range []struct {
		what  string
		to    *os.File
		write func(io.Writer) error
	}{
		{"saved run:", o.json, run.WriteJSON},
		{"page:     ", o.html, func(w io.Writer) error { return page.Write(w, run) }},
	} {
		if f.to == nil {
			continue
		}
		if info, err := f.to.Stat(); err == nil && info.Mode().IsRegular() {
			if err := f.to.Truncate(0); err != nil {
				return err
			}
		}
		if err := f.write(f.to); err != nil {
			return err
		}
		fmt.Fprintln(stdout, f.what, f.to.Name())
	}
	return nil
}

// close removes what is still empty.
func (o output) close() error {
	var errs []error
	for _, f := range []*os.File{o.json, o.html} {
		if f == nil {
			continue
		}
		info, err := f.Stat()
		errs = append(errs, err, f.Close())
		if err == nil && info.Mode().IsRegular() && info.Size() == 0 {
			errs = append(errs, os.Remove(f.Name()))
		}
	}
	return errors.Join(errs...)
}
