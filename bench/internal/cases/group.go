package cases

import (
	"slices"
	"strings"
)

// Groups of cases beside the main table. Each is run by itself, one after the other, and is a command of
// the program. The names of its cases begin with its own.
const (
	GroupCore     = "core" // as a command; the cases of the main table are of no group
	GroupLate     = "late"
	GroupSeeds    = "seeds"
	GroupSizes    = "sizes"
	GroupLeases   = "leases"
	GroupTyped    = "typed"
	GroupBatch    = "batch"
	GroupQueue    = "queue"
	GroupService  = "service"
	GroupLimit    = "limit"
	GroupRecovery = "recovery"
	GroupForeign  = "foreign"
	GroupIdle     = "idle"
)

// Groups lists them in the order in which they run.
var Groups = []string{
	GroupCore, GroupLate, GroupSeeds, GroupSizes, GroupLeases, GroupTyped, GroupBatch, GroupQueue, GroupService, GroupLimit, GroupRecovery, GroupForeign, GroupIdle,
}

// GroupOf tells the group of the cases of a name.
func GroupOf(name string) string {
	if group, _, ok := strings.Cut(name, "-"); ok && slices.Contains(Groups, group) {
		return group
	}
	return ""
}

// OfGroup keeps the cases of one group.
func OfGroup(all []Case, group string) []Case {
	if group == GroupCore {
		group = ""
	}
	return slices.DeleteFunc(slices.Clone(all), func(c Case) bool { return c.Group != group })
}

// Batches splits the cases where the group changes, and that of the sizes between gets and sets as well: its
// clients would lock more memory at once than a user may who is not root.
func Batches(all []Case) [][]Case {
	var out [][]Case
	for i, c := range all {
		if i == 0 || c.Group != all[i-1].Group || c.Group == GroupSizes && c.Name != all[i-1].Name {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], c)
	}
	return out
}
