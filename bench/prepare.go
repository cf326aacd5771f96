package main

import (
	"context"
	"fmt"
	"os/exec"
	"slices"

	"github.com/memring/memring/bench/internal/cases"
	"github.com/memring/memring/bench/internal/runner"
	"github.com/memring/memring/bench/internal/variant"
)

// prepare finds what some cases need beside this program, builds or misses it, and takes out the cases that
// can't be run. dir is for what it builds.
func prepare(ctx context.Context, all []cases.Case, dir string) (left []cases.Case, exes map[cases.Client]string, notes []string) {
	left, exes = all, map[cases.Client]string{}
	has := func(client cases.Client) bool {
		return slices.ContainsFunc(left, func(c cases.Case) bool { return slices.Contains(c.Clients, client) })
	}
	if !has(cases.URing) {
		left = cases.Without(left, cases.URingUnchecked)
	}
	if has(cases.URingUnchecked) {
		exe, err := variant.Build(ctx, dir, variant.Unchecked)
		if err != nil {
			notes = append(notes, fmt.Sprintf("no %s rows: a client without recovery can't be built: %v", cases.GroupRecovery, err))
			left = cases.WithoutGroup(left, cases.GroupRecovery)
		}
		exes[cases.URingUnchecked] = exe
	}
	if slices.ContainsFunc(left, func(c cases.Case) bool { return c.Op == cases.Serve }) {
		if _, err := exec.LookPath(runner.Wrk); err != nil {
			notes = append(notes, fmt.Sprintf("no %s rows: wrk is not on PATH; scripts/benchtools.sh installs it", cases.GroupService))
			left = cases.WithoutGroup(left, cases.GroupService)
		}
	}
	if has(cases.Memaslap) {
		if _, err := runner.FindMemaslap(); err != nil {
			notes = append(notes, fmt.Sprintf("no %s rows: memaslap is not on PATH; scripts/benchtools.sh installs it", cases.GroupForeign))
			left = cases.WithoutGroup(left, cases.GroupForeign)
		}
	}
	return left, exes, append(notes, cases.Remarks(left)...)
}
