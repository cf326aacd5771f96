// Package memcachedtest gives tests a memcached to talk to, in two ways.
//
// [Start] and [Run] start a real memcached on a free port or on a UNIX socket,
// wait until it answers, and take it away afterwards. Use them for what must
// hold against the real thing:
//
//	func TestGet(t *testing.T) {
//		mc := memcachedtest.Start(t, memcachedtest.Options{Network: "unix"})
//		c, err := client.New([]string{mc.Addr()}, nil)
//		...
//	}
//
// [NewServer] starts a small memcached inside the test process which answers
// as memcached 1.6.18 does, byte for byte (the package's tests compare the
// two), or as a later one where flags are concerned that it did not know, and which
// does on demand what a real server won't: stall, reorder,
// answer with the wrong key, cut a reply in half. A [Script] looks at each
// request and chooses an [Action]:
//
//	srv := memcachedtest.NewServer(t, memcachedtest.ServerOptions{
//		Script: func(r memcachedtest.Request) memcachedtest.Action {
//			if r.Key == "slow" {
//				return memcachedtest.Answer().Delay(time.Second)
//			}
//			return memcachedtest.Answer()
//		},
//	})
//
// The in-process server reads the time through package time alone, and
// [Server.Pipe] serves a [net.Pipe], so it works inside a testing/synctest
// bubble.
//
// # Limitations
//
// The in-process server knows the commands a client uses, not all of
// memcached's: see [Server] for the list. It evicts nothing and counts no
// memory. A real memcached listens either on TCP or on a UNIX socket, never on
// both; start two processes to have both.
package memcachedtest
