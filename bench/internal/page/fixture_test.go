package page

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/memring/memring/bench/internal/cases"
	"github.com/memring/memring/bench/internal/report"
)

var everyone = []cases.Client{cases.URing, cases.Poll, cases.GoMemcache, cases.Pipelining}

// invented is a run with rows of every family: made up, but with rounds that differ.
func invented() *report.Saved {
	rnd := rand.New(rand.NewPCG(1, 2))
	run := &report.Saved{Header: report.Run{
		Command: "go run . -rate '<5000>'", Date: "2026-01-02T03:04:05Z", Commit: "0123456789ab", Machine: "a CPU, 2 cores, linux/amd64",
		Kernel: "Linux 6.18", Go: "1.26", Memcached: "1.6.18", Clients: []string{"memring of this checkout", "gomemcache v1"},
		Settings: []report.Setting{{Name: "rounds", Value: "9"}, {Name: "slice", Value: "350ms"}}, Notes: []string{"invented <rows>"},
	}}
	add := func(c cases.Case, group string, param float64, unit string, ops, cpu, p50 float64, more func(r *report.Row, who int)) {
		for who, client := range everyone {
			if client == cases.Pipelining && c.Network == "unix" {
				continue
			}
			r := report.Row{Case: c.Name, Network: c.Network, Callers: c.Callers, Client: client.Name, Engine: client.Engine,
				Title: c.Title(), Group: group, Param: param, Unit: unit, Samples: map[string]report.Samples{}}
			slower := 1 + 0.6*float64(who)
			for range 9 {
				drift := 1 + 0.1*rnd.NormFloat64()*rnd.Float64()
				for key, v := range map[string]float64{report.KeyOps: ops / slower * drift, report.KeyWall: 1e6 * slower / ops / drift,
					report.KeyCPU: cpu * slower * drift, report.KeyP50: p50 * slower * drift, report.KeyP99: 4 * p50 * slower * drift,
					report.KeyP999: 20 * p50 * drift, report.KeyAllocs: 1, report.KeyCalls: slower * (1 + 20/p50)} {
					r.Samples[key] = append(r.Samples[key], v)
				}
			}
			if more != nil {
				more(&r, who)
			}
			r.Finish()
			run.Rows = append(run.Rows, r)
		}
	}
	for _, network := range []string{"unix", "tcp"} {
		for _, n := range []int{1, 8, 64, 512} {
			add(cases.Case{Name: "get-1KiB", Network: network, Callers: n}, "", 0, "", 7e4*math.Pow(float64(n), 0.3), 8/math.Sqrt(float64(n))+2, 12*float64(n), nil)
		}
		add(cases.Case{Name: "multiget-40x100B", Network: network, Callers: 1}, "", 0, "", 27e3, 20, 50, nil)
	}
	add(cases.Case{Name: "bystander-150us-gomaxprocs2", Network: "unix", Callers: 8}, "", 0, "", 4e4, 7, 200, func(r *report.Row, _ int) {
		r.Samples["late_p50_us"], r.Samples["late_p99_us"], r.Samples["late_max_us"] = report.Samples{80}, report.Samples{400}, report.Samples{5000}
	})
	for _, name := range []string{"late-1pct", "stall-200ms"} {
		add(cases.Case{Name: name, Network: "unix", Callers: 64}, "late", 64, "callers", 9e4, 3, 200, func(r *report.Row, who int) {
			for i := range 20 {
				t := report.Tick{At: float64(i+1) / 10, Ops: 9e4 / float64(who+1) * (1 + 0.05*rnd.NormFloat64()), P99us: 300 * float64(who+1)}
				if who == 2 || i == 4 || i == 5 {
					t.Errors, t.Dials, t.P99us = 900, 900*float64(who/2), 50e3
				}
				if name == "stall-200ms" && (i == 4 || i == 5) {
					t.Ops = 0
				}
				r.Series = append(r.Series, t)
			}
			r.Extra = map[string]float64{"opens_per_s": 900 * float64(who/2), "errors_per_s": 9}
		})
	}
	for _, size := range []float64{100, 1 << 10, 16 << 10, 64 << 10, 1 << 20} {
		add(cases.Case{Name: fmt.Sprintf("get-size-%.0f", size), Network: "unix", Callers: 8}, "sizes", size, "bytes", 4e8/(size+3000), 3+size/3000, 30+size/300, nil)
	}
	for i := range 4 {
		add(cases.Case{Name: fmt.Sprintf("seed-%c", 'a'+i), Network: "unix", Callers: 8}, "seeds", 0, "", 1e5/float64(i+1), 5, 60, nil)
	}
	for _, n := range []float64{1, 4, 16} {
		add(cases.Case{Name: "queue", Network: "unix", Callers: int(n)}, "queue", n, "producers", 5e4*math.Sqrt(n), 9, 100, nil)
	}
	return run
}
