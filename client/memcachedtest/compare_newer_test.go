package memcachedtest

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// newer are requests with flags that memcached has got since 1.6.18, which answers
// them as well: it refuses or ignores the flags. They build on one another.
var newer = []string{
	"ms a 1 c E50\r\nx\r\n", "mg a v s t\r\n", "ms a 1 s\r\nx\r\n", "ms a 1 MA s\r\ny\r\n", "ms a 2 MP s F9\r\nzz\r\n", "mg a v f\r\n",
	"ms n 2 MA N60 F3 s\r\nyy\r\n", "mg n v f t\r\n", "ms n 1 MP N90 F4 s\r\nx\r\n", "mg n v f t\r\n", "ms p 1 MP N0 O1\r\nx\r\n", "mg p v t\r\n",
	"ms s 1 N60\r\nx\r\n", "mg s t\r\n", "ms a 1 MA C1 s\r\nx\r\n", "ms a 1 MR C{cas a} E60 s\r\nq\r\n", "ms q 1 MA C5 N5\r\nq\r\n", "mg q v\r\n",
	"md a x T30 O1\r\n", "mg a v f t s\r\n", "ms a 3 T99 F7\r\nabc\r\n", "md a x I T40\r\n", "mg a v f t s\r\n", "mg a v\r\n",
	"ms a 3 T99 F7\r\nabc\r\n", "md a I E70\r\n", "mg a v t\r\n", "md a x k\r\n", "mg a v t\r\n", "md a x C1 T5\r\n", "md nope x T5\r\n", "md a E5\r\n", "mg a\r\n",
	"ms i 1\r\n8\r\n", "ma i v E90\r\n", "mg i v\r\n", "ma i v T30 E91 t\r\n", "mg i t v\r\n", "ma j N60 J5 E92 v t\r\n", "mg j t\r\n", "ma i Ex\r\n",
	"ms e 1 E77\r\nx\r\n", "ms e 1 C77 MA E78\r\ny\r\n", "md e C78 I E79\r\n", "md e C79 x T9 E80\r\n", "md e C80\r\n", "ma e N0 J9 E81\r\n", "ma e C81 E82\r\n", "ma e C82\r\n", "mg ee N9 E5\r\n", "md ee C5\r\n",
	"mg v N30 E93 v\r\n", "mg v E94 v\r\n", "mg v Ex\r\n",
	"ms u 1 F5\r\nu\r\n", "mg u v f C{cas u}\r\n", "mg u v f C1\r\n", "mg u f C{cas u} k O1\r\n", "mg none v C1 k\r\n", "mg u v T50 C{cas u}\r\n", "mg u t\r\n",
	"mg u v Ppath Lpath/x\r\n", "ms u 1 Ppath Lpath/x\r\nx\r\n", "md u Ppath L\r\n", "ma i Ppath Lpath/x v\r\n",
}

// Run with a newer memcached in PATH this compares what a newer one does.
func TestAnswersAsThatVersionDoes(t *testing.T) {
	real := Start(t, Options{})
	network, addr := real.DialAddr()
	theirs := newTalker(t, network, addr)
	fake := NewServer(t, ServerOptions{Version: real.Version()})
	ours := newTalker(t, "tcp", fake.Addr())
	for _, request := range newer {
		want := normal(theirs.say(t, theirs.expand(t, request)))
		got := normal(ours.say(t, ours.expand(t, request)))
		assert.Equal(t, want, got, "to %q", request)
	}
}
