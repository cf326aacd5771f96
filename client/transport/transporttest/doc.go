// Package transporttest is the one conformance suite of memring's I/O engines.
// The io_uring engine, the poll engine and the socketless [Fake] all run it:
//
//	func TestConformance(t *testing.T) {
//		transporttest.Run(t, func(testing.TB) transport.Engine { return fallback.New(nil) }, transporttest.Options{})
//	}
//
// Each case says what its failure means, and every call of a Handler in every
// case is checked against the promises that [transport.Handler] makes: calls
// never overlap, unused bytes are given again in front of later ones, Closed
// comes once and last.
//
// No case asserts how fast anything is. Deadlines that shall pass are short,
// those that shall not pass are far beyond the watchdog, which ends a case that
// hangs with a dump of all goroutines.
package transporttest
