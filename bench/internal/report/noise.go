package report

import (
	"fmt"

	"github.com/memring/memring/bench/internal/cases"
)

// Noise counts how much of a run can be judged: the ratios of CPU time and throughput to poll and to
// gomemcache, whose intervals are narrow enough or not.
type Noise struct {
	Compared int
	Wide     int
	Rounds   int // the fewest that a compared row has
}

// NoiseOf a run.
func NoiseOf(rows []Row) Noise {
	var n Noise
	for i := range rows {
		r := &rows[i]
		if !rival(r) || r.Late != nil {
			continue
		}
		for _, other := range []cases.Client{cases.Poll, cases.GoMemcache} {
			to := Find(rows, r, other)
			if to == nil || to == r {
				continue
			}
			for _, key := range []string{KeyCPU, KeyOps} {
				ratio := Compare(r, to, key)
				if !ratio.Known() {
					continue
				}
				n.Compared++
				if n.Rounds == 0 || r.Rounds < n.Rounds {
					n.Rounds = r.Rounds
				}
				if ratio.Wide() {
					n.Wide++
				}
			}
		}
	}
	return n
}

// TooNoisy tells whether most of the run is good for nothing.
func (n Noise) TooNoisy() bool { return 2*n.Wide > n.Compared }

// String is the verdict, as it stands in the header.
func (n Noise) String() string {
	if n.Compared == 0 {
		return "nothing to compare"
	}
	s := fmt.Sprintf("%d of %d ratios are too noisy to judge: their intervals span more than %.0f%%", n.Wide, n.Compared, 100*maxInterval)
	switch {
	case n.Wide == 0:
		s = fmt.Sprintf("all %d ratios can be judged: their intervals span at most %.0f%%", n.Compared, 100*maxInterval)
	case n.TooNoisy():
		s = "THIS RUN IS TOO NOISY TO JUDGE. " + s
	}
	if n.Rounds < fewRounds {
		s += fmt.Sprintf(" (of some rows there are fewer than %d rounds, whose whole range stands in for an interval)", fewRounds)
	}
	return s
}
