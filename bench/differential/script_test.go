package differential

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	ours "github.com/memring/memring/client/gomemcache"
)

// step is one call.
type step struct {
	op      string
	item    ours.Item // Key is the key of calls that take no item; Expiration likewise
	keys    []string
	delta   uint64
	age     int   // CompareAndSwap: how many Gets before the last one of this key
	servers []int // SetServers
}

func (s step) String() string {
	switch s.op {
	case "GetMulti":
		return fmt.Sprintf("GetMulti(%d keys)", len(s.keys))
	case "SetServers":
		return fmt.Sprintf("SetServers(%v)", s.servers)
	}
	return fmt.Sprintf("%s(%.20q, %d bytes, flags %d, expiration %d, delta %d, age %d)",
		s.op, s.item.Key, len(s.item.Value), s.item.Flags, s.item.Expiration, s.delta, s.age)
}

// outcome is what a call has returned.
type outcome struct {
	class  string
	items  map[string]ours.Item
	number uint64
}

func (o outcome) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "error %q, number %d, items %t:", o.class, o.number, o.items != nil)
	for _, key := range slices.Sorted(maps.Keys(o.items)) {
		it := o.items[key]
		fmt.Fprintf(&b, "\n    %.20q: %.20q of %d bytes (nil %t), flags %d, cas %d",
			it.Key, it.Value, len(it.Value), it.Value == nil, it.Flags, it.CasID)
	}
	return b.String()
}

// joined are the values, in order.
func joined(items map[string]ours.Item) string {
	var values []string
	for _, it := range items {
		values = append(values, string(it.Value))
	}
	slices.Sort(values)
	return strings.Join(values, ",")
}

// play makes the call.
func (d *side[I]) play(s step, addrs []string) outcome {
	var (
		o   outcome
		err error
		key = s.item.Key
	)
	switch s.op {
	case "Get":
		var it *I
		if it, err = d.Get(key); err == nil {
			o.items = map[string]ours.Item{key: d.take(it)}
			d.seen[key] = append(d.seen[key], it)
		} else if it != nil {
			o.class = "an item beside an error, "
		}
	case "GetAndTouch":
		var it *I
		if it, err = d.GetAndTouch(key, s.item.Expiration); err == nil {
			item := d.take(it)
			item.CasID = 0 // gomemcache does not get it; ours is tested in its own package
			o.items = map[string]ours.Item{key: item}
		}
	case "GetMulti":
		var m map[string]*I
		m, err = d.GetMulti(s.keys)
		if m != nil {
			o.items = map[string]ours.Item{}
		}
		for k, it := range m {
			o.items[k] = d.take(it)
			d.seen[k] = append(d.seen[k], it)
		}
	case "CompareAndSwap":
		item := s.item
		if seen := d.seen[key]; len(seen) > 0 {
			item.CasID = d.take(seen[max(0, len(seen)-1-s.age)]).CasID
		}
		err = d.CompareAndSwap(d.give(item))
	case "Set":
		err = d.Set(d.give(s.item))
	case "Add":
		err = d.Add(d.give(s.item))
	case "Replace":
		err = d.Replace(d.give(s.item))
	case "Append":
		err = d.Append(d.give(s.item))
	case "Prepend":
		err = d.Prepend(d.give(s.item))
	case "Touch":
		err = d.Touch(key, s.item.Expiration)
	case "Delete":
		err = d.Delete(key)
	case "Increment":
		o.number, err = d.Increment(key, s.delta)
	case "Decrement":
		o.number, err = d.Decrement(key, s.delta)
	case "DeleteAll":
		err = d.DeleteAll()
	case "FlushAll":
		err = d.FlushAll()
	case "Ping":
		err = d.Ping()
	case "Close":
		err = d.Close()
	case "SetServers":
		var list []string
		for _, i := range s.servers {
			list = append(list, addrs[i])
		}
		err = d.list.SetServers(list...)
	default:
		panic("no operation " + s.op)
	}
	o.class += d.class(err)
	return o
}

var (
	goodKeys = []string{
		"a", "b", "counter", "counter:2", "user:1000:name", "Hello_世界", "\x80\xff\xfe", "-1", "0", "k,k",
		strings.Repeat("x", 100), strings.Repeat("y", 250),
	}
	badKeys = []string{"a b", "a\r\nb", "tab\t", "del\x7f", "\x00", " ", strings.Repeat("z", 251), strings.Repeat("z", 300)}
	numbers = []string{"0", "1", "9", "42", "100", "18446744073709551615", "18446744073709551616", "-5", " 7", "7 ", "x", ""}
	deltas  = []uint64{0, 1, 2, 9, 91, 1 << 63, 1<<64 - 1}
)

// tooLarge is more than a server takes, in bytes. What becomes of the stored item then, only Set leaves the same:
// see TestTooLarge.
const tooLarge = 1100 << 10

// hour is the unit of expirations: servers' clocks may be seconds apart, and machines slow.
const hour = 3600

// plan makes a script. What it does depends on the seed alone, but for the time from which absolute
// expirations count.
func plan(seed uint64, steps, servers int, now time.Time) []step {
	r := rand.New(rand.NewPCG(seed, uint64(servers)))
	script := []step{{op: "Get", item: ours.Item{Key: "a"}}, {op: "Set", item: ours.Item{Key: "a b"}}, {op: "Ping"},
		{op: "SetServers", servers: r.Perm(servers)}}
	for len(script) < steps {
		s := step{op: choose(r, ops), item: ours.Item{Key: choose(r, goodKeys)}}
		if r.IntN(40) == 0 {
			s.item.Key = choose(r, badKeys)
		}
		switch s.op {
		case "DeleteAll", "FlushAll", "Close":
			if r.IntN(6) > 0 || len(script) > steps*2/3 {
				continue // or there would be nothing to see
			}
		case "SetServers":
			for range r.IntN(2*servers + 1) {
				s.servers = append(s.servers, r.IntN(servers))
			}
		case "GetMulti":
			for range r.IntN(30) {
				s.keys = append(s.keys, choose(r, goodKeys))
			}
			if r.IntN(20) == 0 {
				s.keys = append(s.keys, choose(r, badKeys))
			}
		}
		s.item.Value = value(r)
		if s.op == "Set" && r.IntN(30) == 0 {
			s.item.Value = make([]byte, tooLarge)
		}
		s.item.Flags = choose(r, []uint32{0, 1, 123, 1<<31 + 5, 1<<32 - 1})
		s.item.Expiration = expiration(r, now)
		s.delta = choose(r, deltas)
		s.age = choose(r, []int{0, 0, 0, 1, 2})
		script = append(script, s)
	}
	return script
}

var ops = []string{
	"Get", "Get", "Get", "GetMulti", "GetMulti", "GetAndTouch", "Touch", "Set", "Set", "Set", "Add", "Replace", "Append", "Prepend",
	"CompareAndSwap", "CompareAndSwap", "Increment", "Decrement", "Increment", "Decrement", "Delete", "DeleteAll", "FlushAll",
	"Ping", "Close", "SetServers",
}

func value(r *rand.Rand) []byte {
	switch r.IntN(8) {
	case 0, 1, 2:
		return []byte(choose(r, numbers))
	case 3:
		return nil
	}
	size := choose(r, []int{1, 2, 100, 1000, 5000, 70_000, 300_000})
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	copy(b, "\r\nEND\r\n")
	return b
}

func expiration(r *rand.Rand, now time.Time) int32 {
	const month = 30 * 24 * hour
	in := int32(1+r.IntN(700)) * hour
	switch r.IntN(10) {
	case 0, 1, 2:
		return in
	case 3:
		return int32(now.Unix()) + in
	case 4:
		return int32(now.Unix()) + month + in
	case 5:
		return choose(r, []int32{-1, -hour, -1 << 31, month + 1, int32(now.Unix()) - hour, month, 1<<31 - 1})
	}
	return 0
}

func choose[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }
