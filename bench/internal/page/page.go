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
		"Sections": Sections(run.Rows), "Tables": report.Tables(run.Rows),
	})
}

// Charts writes every chart to a file of its own in a folder that exists, and returns their names.
func Charts(dir string, run *report.Saved) (names []string, err error) {
	for _, s := range Sections(run.Rows) {
		for _, f := range s.Figures {
			name := filepath.Join(dir, f.Name+".svg")
			if err := os.WriteFile(name, []byte(chart.Standalone(f.SVG)+"\n"), 0o644); err != nil {
				return names, err
			}
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil, errors.New("the run has no rows to draw")
	}
	return names, nil
}
