package report

import "io"

// Tables of the run, in the order of the report; those without rows are left out.
func Tables(rows []Row) []*Grid {
	all := []*Grid{Table(rows), Bystanders(rows)}
	for _, f := range Families(rows) {
		all = append(all, f.Table(rows))
	}
	var out []*Grid
	for _, g := range all {
		if len(g.Sections) > 0 {
			out = append(out, g)
		}
	}
	return out
}

// Text prints the whole report.
func (s *Saved) Text(w io.Writer) error {
	if err := Header(w, s.Header); err != nil {
		return err
	}
	for _, g := range Tables(s.Rows) {
		if err := g.WriteText(w); err != nil {
			return err
		}
	}
	if err := Targets(w, Judge(s.Rows)); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\nnoise: "+NoiseOf(s.Rows).String()+"\n")
	return err
}
