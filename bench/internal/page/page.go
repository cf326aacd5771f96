// Package page makes one HTML file of a saved run: charts, tables and how to run it again. The file needs
// nothing from elsewhere, no network and no script.
package page

import (
	_ "embed" // the template
	"errors"
	"html/template"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/memring/memring/bench/internal/chart"
	"github.com/memring/memring/bench/internal/report"
)

//go:embed page.tmpl
var text string

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"svg":     func(s string) template.HTML { return template.HTML(s) }, // made by package chart, which escapes
	"verdict": verdict,
}).Parse(text))

// verdict is a class for the colour of a target's word.
func verdict(v report.Verdict) string {
	switch {
	case v.Missed:
		return "missed"
	case v.Noisy:
		return "noisy"
	}
	return "met"
}

// Write writes the page.
func Write(w io.Writer, run *report.Saved) error {
	var known []report.Verdict
	unknown := 0
	for _, v := range report.Judge(run.Rows) {
		if v.Unknown {
			unknown++
			continue
		}
		known = append(known, v)
	}
	noise := report.NoiseOf(run.Rows)
	return page.Execute(w, map[string]any{
		"Style": template.CSS(chart.CSS), "Run": run.Header, "Facts": run.Header.Facts(), "Noise": noise.String(),
		"TooNoisy": noise.TooNoisy(), "Targets": known, "Unknown": unknown,
		"Sections": Sections(run.Rows, ""), "Tables": report.Tables(run.Rows),
	})
}

// Charts writes each chart whose name matches to a file of its own, in a folder that exists, and returns
// the files' names. Each says where its figures come from, as it will be shown without the page.
func Charts(dir string, only *regexp.Regexp, run *report.Saved) (names []string, err error) {
	for _, s := range Sections(run.Rows, source(run)) {
		for _, f := range s.Figures {
			if !only.MatchString(f.Name) {
				continue
			}
			name := filepath.Join(dir, f.Name+".svg")
			if err := os.WriteFile(name, []byte(chart.Standalone(f.SVG)+"\n"), 0o644); err != nil {
				return names, err
			}
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil, errors.New("the run has no such chart")
	}
	return names, nil
}

// source of a run's figures, in a line.
func source(run *report.Saved) string {
	day, _, _ := strings.Cut(run.Header.Date, "T")
	parts := []string{"make bench, " + day}
	if run.Header.Commit != "" {
		parts = append(parts, "commit "+run.Header.Commit)
	}
	parts = append(parts, run.Header.Machine, run.Header.Kernel)
	if report.NoiseOf(run.Rows).TooNoisy() {
		parts = append(parts, "TOO NOISY TO JUDGE")
	}
	return strings.Join(parts, " · ")
}
