package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"
)

// Saved is a run as it is kept: the file that `bench -json` writes, and all that a report needs.
type Saved struct {
	Header Run   `json:"header"`
	Rows   []Row `json:"rows"`
}

// Run describes a run: enough to do it again, and to tell whether another can be compared with it.
type Run struct {
	Command   string    `json:"command"`
	Date      string    `json:"date"`             // when it began, RFC 3339
	Commit    string    `json:"commit,omitempty"` // of memring, if known; "dirty" with changes on top
	Machine   string    `json:"machine"`
	Kernel    string    `json:"kernel"`
	Go        string    `json:"go"`
	Memcached string    `json:"memcached"`
	Clients   []string  `json:"clients"`
	Settings  []Setting `json:"settings"`
	Notes     []string  `json:"notes"` // what was left out, and why
}

// Setting is one flag and the value it had.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Here describes this program on this machine, now.
func Here() Run {
	return Run{
		Date: time.Now().UTC().Format(time.RFC3339), Commit: commit(), Kernel: kernel(),
		Machine: fmt.Sprintf("%s, %d cores, %s/%s", cpuModel(), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH),
		Go:      strings.TrimPrefix(runtime.Version(), "go"),
	}
}

// commit asks the binary, or git about the place that this file was compiled from: `go run` stamps nothing.
func commit() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		revision, dirty := "", ""
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision":
				revision = s.Value[:min(len(s.Value), 12)]
			case s.Key == "vcs.modified" && s.Value == "true":
				dirty = "-dirty"
			}
		}
		if revision != "" {
			return revision + dirty
		}
	}
	_, file, _, ok := runtime.Caller(0)
	if !ok || !filepath.IsAbs(file) { // -trimpath
		return ""
	}
	out, err := exec.Command("git", "-C", filepath.Dir(file), "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*").Output()
	if err != nil {
		return "" // no git, or not a checkout
	}
	return strings.TrimSpace(string(out))
}

// WriteJSON writes the run to be read again.
func (s *Saved) WriteJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	out := *s
	if out.Rows == nil {
		out.Rows = []Row{}
	}
	return enc.Encode(out)
}

// Read reads what WriteJSON wrote.
func Read(r io.Reader) (*Saved, error) {
	var s Saved
	if err := json.NewDecoder(r).Decode(&s); err != nil {
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && wrong.Value == "array" && wrong.Field == "" {
			return nil, errors.New("it is a bare array of rows, which earlier versions saved, and doesn't say where they were measured: measure again")
		}
		return nil, fmt.Errorf("not a saved run: %w", err)
	}
	if s.Header.Date == "" {
		return nil, errors.New("not a saved run: it has no header")
	}
	return &s, nil
}
