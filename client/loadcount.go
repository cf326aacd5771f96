package client

import "sync/atomic"

// LoadCounters count what [Client.GetOrLoad] has done since [New].
type LoadCounters struct {
	Loads        uint64 // calls of load
	Background   uint64 // those of them that nobody waited for when they began
	Failed       uint64 // those of them that returned an error
	Shared       uint64 // calls that joined a load, or a wait, of another in this process
	Waits        uint64 // waits for other processes
	Stale        uint64 // calls that returned an invalidated value
	Lost         uint64 // loaded values that were not stored because their claim was lost
	WithoutCache uint64 // calls that the cache failed
}

// loadCounters are the client's own.
type loadCounters struct {
	loads, behind, failed, shared, waits, stale, lost, without atomic.Uint64
}

// LoadCounters returns what GetOrLoad has done. A Loads that grows with the number
// of processes, or a Lost that grows at all, mean that loads take longer than
// LoadOptions.Claim, unless keys are deleted while they are being loaded.
func (cl *Client) LoadCounters() LoadCounters {
	if cl == nil {
		return LoadCounters{}
	}
	n := &cl.loads.loadCounters
	return LoadCounters{
		Loads: n.loads.Load(), Background: n.behind.Load(), Failed: n.failed.Load(), Shared: n.shared.Load(),
		Waits: n.waits.Load(), Stale: n.stale.Load(), Lost: n.lost.Load(), WithoutCache: n.without.Load(),
	}
}
