package differential

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/memring/memring/client"
	ours "github.com/memring/memring/client/gomemcache"
	"github.com/memring/memring/client/memcachedtest"
)

// act is a call and what gomemcache's documentation and tests say of it.
type act struct {
	step
	class string // "": no error
	value string // of the one item, or of all; or the number
}

func call(op, key, value string) step {
	return step{op: op, item: ours.Item{Key: key, Value: []byte(value), Flags: 123}}
}

func counted(op, key string, delta uint64) step {
	return step{op: op, item: ours.Item{Key: key}, delta: delta}
}

// suite tells the story that gomemcache's own tests tell, in the same order: store, compare and swap, keys that
// can't be, conditional stores, many keys, deletion, counters, expiration, and the end of it all.
func suite() []act {
	const (
		miss, conflict = "memcache: cache miss", "memcache: compare-and-swap conflict"
		notStored      = "memcache: item not stored"
	)
	malformed := ours.ErrMalformedKey.Error()
	older := call("CompareAndSwap", "one", "too late")
	older.age = 1
	kept := call("Touch", "touched", "")
	kept.item.Expiration = 2 * hour
	brief := call("Set", "brief", "gone at once")
	brief.item.Expiration = -1
	return []act{
		{call("Set", "one", "first"), "", ""},
		{call("Set", "one", "second"), "", ""},
		{call("Get", "one", ""), "", "second"},
		{call("Get", "one", ""), "", "second"},
		{call("CompareAndSwap", "one", "swapped"), "", ""},
		{older, conflict, ""},
		{call("Get", "one", ""), "", "swapped"},
		{call("Set", "Grüße_世界", "a key of any letters"), "", ""},
		{call("Get", "Grüße_世界", ""), "", "a key of any letters"},
		{call("Set", "in two", "x"), malformed, ""},
		{call("Set", "del\x7f", "x"), malformed, ""},
		{call("Add", "new", "added"), "", ""},
		{call("Add", "new", "again"), notStored, ""},
		{call("Append", "long", "b"), notStored, ""},
		{call("Set", "long", "b"), "", ""},
		{call("Append", "long", "c"), "", ""},
		{call("Get", "long", ""), "", "bc"},
		{call("Prepend", "longer", "a"), notStored, ""},
		{call("Prepend", "long", "a"), "", ""},
		{call("Get", "long", ""), "", "abc"},
		{call("Replace", "nothing", "x"), notStored, ""},
		{call("Replace", "new", "replaced"), "", ""},
		{step{op: "GetMulti", keys: []string{"one", "nothing", "new"}}, "", "replaced,swapped"},
		{call("Delete", "one", ""), "", ""},
		{call("Get", "one", ""), miss, ""},
		{call("CompareAndSwap", "one", "x"), miss, ""},
		{call("Set", "number", "42"), "", ""},
		{counted("Increment", "number", 8), "", "50"},
		{counted("Decrement", "number", 49), "", "1"},
		{counted("Decrement", "number", 2), "", "0"},
		{call("Delete", "number", ""), "", ""},
		{call("Delete", "number", ""), miss, ""},
		{counted("Increment", "number", 1), miss, "0"},
		{call("Set", "number", "not one"), "", ""},
		{counted("Increment", "number", 1), classClient, "0"},
		{call("Set", "touched", "kept"), "", ""},
		{kept, "", ""},
		{call("Touch", "nothing", ""), miss, ""},
		{call("GetAndTouch", "touched", ""), "", "kept"},
		{call("GetAndTouch", "nothing", ""), miss, ""},
		{brief, "", ""},
		{call("Get", "brief", ""), miss, ""},
		{step{op: "Ping"}, "", ""},
		{step{op: "DeleteAll"}, "", ""},
		{call("Get", "new", ""), miss, ""},
		{step{op: "FlushAll"}, "", ""},
		{step{op: "Close"}, "", ""},
		{call("Set", "a", "Close"), "", ""},
		{call("Get", "a", ""), "", "Close"},
	}
}

// TestSuite has both clients do what the story says, to the same end.
func TestSuite(t *testing.T) {
	onEngines(t, func(t *testing.T, kind client.EngineKind) {
		script := []step{{op: "SetServers", servers: []int{0}}}
		var want []act
		for _, a := range suite() {
			script, want = append(script, a.step), append(want, a)
		}
		compare(t, kind, "unix", 1, script)

		mc := start(t, "tcp", 1)
		c := newOurs(kind)
		defer c.Close()
		for i, s := range script {
			got := c.play(s, addrs(mc))
			if i == 0 {
				continue
			}
			require.Equal(t, want[i-1].class, got.class, "%v", s)
			require.Equal(t, want[i-1].value, got.text(s.op), "%v", s)
		}
	})
}

// text is what the outcome brings, in the form of act.value.
func (o outcome) text(op string) string {
	if op == "Increment" || op == "Decrement" {
		return fmt.Sprint(o.number)
	}
	return joined(o.items)
}

// A server that is gone, or silent, is the same kind of error in both.
func TestServerLost(t *testing.T) {
	onEngines(t, func(t *testing.T, kind client.EngineKind) {
		left, right := start(t, "tcp", 3), start(t, "tcp", 3)
		want, got := newTheirs(), newOurs(kind)
		defer want.Close()
		defer got.Close()
		both := func(s step) {
			t.Helper()
			a, b := want.play(s, addrs(left)), got.play(s, addrs(right))
			require.Equalf(t, a, b, "%v", s)
		}
		both(step{op: "SetServers", servers: []int{0, 1, 2}})
		for _, key := range goodKeys {
			both(call("Set", key, "value of "+key))
		}
		for _, list := range [][]*memcachedtest.Process{left, right} {
			require.NoError(t, list[1].Stop())
		}
		for _, op := range []string{"Get", "Set", "Delete", "Increment", "Touch"} {
			for _, key := range goodKeys {
				both(call(op, key, "1"))
			}
		}
		both(step{op: "GetMulti", keys: goodKeys}) // the other servers' items, and an error
		both(step{op: "Ping"})
		both(step{op: "FlushAll"}) // of the first server, then the error
		both(step{op: "SetServers", servers: []int{0, 2}})
		both(step{op: "GetMulti", keys: goodKeys})
		both(step{op: "Ping"})
	})
}

// A silent server costs Timeout in both. What it costs beyond that is a connection, in gomemcache only.
func TestServerSilent(t *testing.T) {
	onEngines(t, func(t *testing.T, kind client.EngineKind) {
		left, right := start(t, "unix", 1), start(t, "unix", 1)
		want, got := newTheirs(), newOurs(kind)
		defer want.Close()
		defer got.Close()
		both := func(s step) outcome {
			t.Helper()
			a, b := want.play(s, addrs(left)), got.play(s, addrs(right))
			require.Equalf(t, a, b, "%v", s)
			return a
		}
		both(step{op: "SetServers", servers: []int{0}})
		both(call("Set", "k", "value"))
		for _, p := range []*memcachedtest.Process{left[0], right[0]} {
			require.NoError(t, p.Pause())
		}
		setTimeout(want, got, shortPatience)
		for _, op := range []string{"Get", "Set", "Delete"} {
			require.Equal(t, classTimeout, both(call(op, "k", "late")).class)
		}
		require.Equal(t, classTimeout, both(step{op: "GetMulti", keys: []string{"k", "l"}}).class)
		require.Equal(t, classTimeout, both(step{op: "Ping"}).class)
		for _, p := range []*memcachedtest.Process{left[0], right[0]} {
			require.NoError(t, p.Resume())
		}
		setTimeout(want, got, patience)
		both(call("Set", "k", "in time"))
		require.Equal(t, "in time", both(call("Get", "k", "")).text("Get"))
	})
}

// TestTooLarge is a difference that cannot be helped: a value that is too large for the server costs the stored
// item as well, while the classic commands other than set, which gomemcache sends, leave it.
func TestTooLarge(t *testing.T) {
	onEngines(t, func(t *testing.T, kind client.EngineKind) {
		left, right := start(t, "unix", 1), start(t, "unix", 1)
		want, got := newTheirs(), newOurs(kind)
		defer want.Close()
		defer got.Close()
		for _, op := range []string{"Set", "Add", "Replace", "Append", "Prepend"} {
			for _, s := range []step{{op: "SetServers", servers: []int{0}}, call("Set", "k", "small"), call(op, "k", string(make([]byte, tooLarge)))} {
				a, b := want.play(s, addrs(left)), got.play(s, addrs(right))
				require.Equalf(t, a, b, "%v", s)
				if len(s.item.Value) == tooLarge {
					require.Equal(t, classServer, b.class)
				}
			}
			after := call("Get", "k", "")
			if op != "Set" {
				require.Empty(t, want.play(after, addrs(left)).class, op)
			}
			require.Equal(t, ours.ErrCacheMiss.Error(), got.play(after, addrs(right)).class, op)
		}
	})
}

// TestEmptyKey is another: gomemcache sends it, which no server understands, and which has a value run as a
// command.
func TestEmptyKey(t *testing.T) {
	left, right := start(t, "unix", 1), start(t, "unix", 1)
	want, got := newTheirs(), newOurs(client.Poll)
	defer want.Close()
	defer got.Close()
	for _, op := range []string{"SetServers", "Get", "Set", "Delete", "Increment", "Touch", "GetAndTouch"} {
		s := call(op, "", "junk")
		s.servers = []int{0}
		a, b := want.play(s, addrs(left)), got.play(s, addrs(right))
		if op != "SetServers" {
			require.NotEmpty(t, a.class, op)
			require.Equal(t, ours.ErrMalformedKey.Error(), b.class, op)
		}
	}
}
