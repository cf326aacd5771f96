// Package report turns what was measured into rows, tables, a file and verdicts on the noise and the targets.
package report

import (
	"math"

	"github.com/memring/memring/bench/internal/cases"
)

// Where a row's system calls were counted.
const (
	SourceKernel = "kernel" // all system calls of the client's process
	SourceEngine = "engine" // those that memring's engine makes itself for I/O, by its own count
)

// Keys of the columns in Row.Samples.
const (
	KeyWall   = "wall_us"
	KeyCPU    = "cpu_us"
	KeyOps    = "ops_per_s"
	KeyP50    = "p50_us"
	KeyP99    = "p99_us"
	KeyP999   = "p999_us"
	KeyAllocs = "allocs_per_op"
	KeyCalls  = "syscalls_per_op"
	KeyEnters = "enters_per_op"
	KeyLate99 = "late_p99_us"
)

// noisySpread is the spread above which a row's own figures say little.
const noisySpread = 0.15

// Row is one line of the table: one client in one case. The figures are medians over the rounds. The
// first thirteen keys of the JSON form are fixed.
type Row struct {
	Case       string   `json:"case"`
	Network    string   `json:"network"`
	Callers    int      `json:"callers"`
	Client     string   `json:"client"`
	Engine     string   `json:"engine"`
	WallUS     float64  `json:"wall_us"`
	CPUUS      float64  `json:"cpu_us"`
	P50US      float64  `json:"p50_us"`
	P99US      float64  `json:"p99_us"`
	P999US     float64  `json:"p999_us"`
	OpsPerS    float64  `json:"ops_per_s"`
	SyscallsOp *float64 `json:"syscalls_per_op"` // null: nobody counts
	AllocsOp   float64  `json:"allocs_per_op"`

	MaxUS      float64            `json:"max_us"` // the slowest call of all, untimed slices included
	Rounds     int                `json:"rounds"`
	Spread     float64            `json:"spread"` // the wider one of wall and CPU
	Noisy      bool               `json:"noisy"`
	SyscallsBy string             `json:"syscalls_source"`
	EntersOp   *float64           `json:"enters_per_op,omitempty"`
	Gomaxprocs int                `json:"gomaxprocs"`
	Late       *Late              `json:"late,omitempty"`
	Samples    map[string]Samples `json:"samples"` // by the key of the column, one a round

	// Families of rows that are drawn and printed together, beside the main table.
	Group string  `json:"group,omitempty"` // "", late, seeds, sizes, queue, service, limit or recovery
	Param float64 `json:"param,omitempty"` // what varies within the family, in Unit
	Unit  string  `json:"unit,omitempty"`  // callers or bytes

	Series []Tick             `json:"series,omitempty"` // what happened when, in one slice
	Extra  map[string]float64 `json:"extra,omitempty"`  // figures of one family only, such as opens_per_s

	Title string `json:"title"`
}

// Tick is one interval of a time series. The rates are per second, whatever the interval's length.
type Tick struct {
	At     float64 `json:"at_s"` // when the interval ended, in seconds from the start
	Ops    float64 `json:"ops_per_s"`
	Errors float64 `json:"errors_per_s"`
	Dials  float64 `json:"dials_per_s"`
	P99us  float64 `json:"p99_us"`
}

// Samples are one column's values, round by round.
type Samples []float64

// Late is how late the bystander woke.
type Late struct {
	P50US float64 `json:"p50_us"`
	P99US float64 `json:"p99_us"`
	MaxUS float64 `json:"max_us"`
}

// Who names the row's client.
func (r Row) Who() string { return cases.Client{Name: r.Client, Engine: r.Engine}.String() }

// Finish sets the figures from the samples. A figure without samples stays zero: not every family has all.
func (r *Row) Finish() {
	of := func(key string) float64 { return Median(r.Samples[key]) }
	for key, figure := range map[string]*float64{
		KeyWall: &r.WallUS, KeyCPU: &r.CPUUS, KeyOps: &r.OpsPerS, KeyAllocs: &r.AllocsOp,
		KeyP50: &r.P50US, KeyP99: &r.P99US, KeyP999: &r.P999US,
	} {
		if v := of(key); !math.IsNaN(v) {
			*figure = v
		}
	}
	r.Rounds = len(r.Samples[KeyWall])
	r.Spread = max(Spread(r.Samples[KeyWall]), Spread(r.Samples[KeyCPU]))
	r.Noisy = r.Spread > noisySpread
	if v := of(KeyEnters); !math.IsNaN(v) {
		r.EntersOp, r.SyscallsOp, r.SyscallsBy = &v, &v, SourceEngine
	}
	if v := of(KeyCalls); !math.IsNaN(v) {
		r.SyscallsOp, r.SyscallsBy = &v, SourceKernel
	}
	if v := of("late_p50_us"); !math.IsNaN(v) {
		r.Late = &Late{v, of(KeyLate99), of("late_max_us")}
	}
}
