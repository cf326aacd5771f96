package cases

import (
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSuiteHasEveryCaseOnce(t *testing.T) {
	for _, quick := range []bool{false, true} {
		seen := map[string]bool{}
		for _, c := range Suite(quick) {
			require.Falsef(t, seen[c.ID()], "%s twice", c.ID())
			seen[c.ID()] = true
			require.NotEmpty(t, c.Clients)
			for _, cl := range c.Clients {
				require.Falsef(t, cl == Pipelining && c.Network == "unix", "go-memcache can't dial a UNIX socket: %s", c.ID())
			}
		}
		for _, want := range []string{
			"get-1KiB/unix/1", "get-1KiB/unix/8", "get-1KiB/unix/64", "get-1KiB/unix/512", "get-1KiB/tcp/64",
			"get-1KiB/tcp/512", "get-1KiB-150us/unix/1", "get-1KiB-150us/unix/8", "set-1KiB/unix/1", "set-1KiB/unix/64",
			"multiget-40x100B/unix/1", "multiget-40x4KiB/unix/1", "getappend-1KiB/unix/64",
		} {
			require.Truef(t, seen[want], "quick %v: %s is missing", quick, want)
		}
	}
}

func TestBatchesAreTheGroups(t *testing.T) {
	var groups []string
	for _, b := range Batches(Suite(false)) {
		for _, c := range b {
			require.Equal(t, b[0].Group, c.Group)
			require.Equal(t, c.Group, GroupOf(c.Name))
		}
		groups = append(groups, b[0].Group)
	}
	require.Equal(t, append([]string{""}, Groups[1:]...), slices.Compact(groups), "each group comes once, in its place")
	for _, g := range Groups {
		require.NotEmpty(t, OfGroup(Suite(false), g), g)
	}
	require.NotEmpty(t, OfGroup(Suite(true), GroupLate))
}

// TestDataHasRoom: the servers have 1 GiB, and what they drop would be missed.
func TestDataHasRoom(t *testing.T) {
	bytes := map[string]int{}
	for _, c := range Suite(false) {
		if c.Size == 0 {
			continue
		}
		bytes[WriteKey(c.Size, 0)] = KeyCount(c.Size) * c.Size
		bytes[Key(c.Size, 0)] = KeyCount(c.Size) * c.Size
		require.GreaterOrEqual(t, KeyCount(c.Size), c.Keys, c.Name)
	}
	sum := 0
	for _, n := range bytes {
		sum += n
	}
	require.Less(t, sum, 600<<20)
}

func TestSelect(t *testing.T) {
	got := Select(Suite(false), regexp.MustCompile(`^get-1KiB/tcp/(1|8)$`), regexp.MustCompile("^go"))
	require.Len(t, got, 2)
	require.Equal(t, []Client{GoMemcache, Pipelining}, got[0].Clients)
	require.Empty(t, Select(Suite(false), nil, regexp.MustCompile("nobody")))
	for _, c := range Without(Suite(true), URing) {
		require.NotContains(t, c.Clients, URing)
	}
	require.Contains(t, Suite(true)[0].Clients, URing, "the suite itself must not change")
}

// TestSizesByReference: the sizes that the defaults copy, near those that they don't, are measured both ways.
func TestSizesByReference(t *testing.T) {
	both := map[string]bool{}
	for _, c := range OfGroup(Suite(false), GroupSizes) {
		require.Contains(t, c.Clients, URingCopy, c.ID())
		if slices.Contains(c.Clients, URingRef) {
			both[c.named()] = true
		}
	}
	require.Equal(t, map[string]bool{
		"sizes-set-1KiB": true, "sizes-set-4KiB": true,
		"sizes-get-16KiB": true, "sizes-get-32KiB": true, "sizes-get-64KiB": true,
	}, both)
}

func TestRemarksAreOnWhatRuns(t *testing.T) {
	has := func(only, clients string) bool {
		return slices.Contains(Remarks(Select(Suite(false), regexp.MustCompile(only), regexp.MustCompile(clients))), remarkPipelining)
	}
	require.True(t, has("^get-1KiB/", ""))
	require.False(t, has("^get-1KiB/unix", ""), "go-memcache doesn't run at all")
	require.False(t, has("^get-1KiB/", "memring"), "nor here")
	require.False(t, has("^get-1KiB/tcp", ""), "nothing is missing")
	require.Equal(t, []string{remarks[GroupLimit]}, Remarks(OfGroup(Suite(false), GroupLimit)))
}

func TestRight(t *testing.T) {
	key := Key(100, 7)
	value := AppendValue(nil, key, 100)
	require.True(t, Right(value, key, 100))
	require.False(t, Right(value, Key(100, 8), 100), "another key's value")
	require.False(t, Right(value[:99], key, 100), "a short value")
	value[99] = 0
	require.False(t, Right(value, key, 100), "a damaged end")
	require.True(t, Right(AppendValue(nil, key, 4), key, 4), "a value shorter than its key")
	value = AppendValue(value[:0], key, 100)
	require.Zero(t, testing.AllocsPerRun(100, func() { Right(value, key, 100) }), "checking must not disturb the count of allocations")
}
