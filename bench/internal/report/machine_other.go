//go:build !linux

package report

import (
	"os/exec"
	"strings"
)

func cpuModel() string { return ask("unknown CPU", "sysctl", "-n", "machdep.cpu.brand_string") }

func kernel() string { return ask("unknown", "uname", "-sr") }

func ask(otherwise, program string, args ...string) string {
	out, err := exec.Command(program, args...).Output()
	if err != nil {
		return otherwise
	}
	return strings.TrimSpace(string(out))
}
