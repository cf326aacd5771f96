package ring

import "fmt"

// This is a model of how callers wait: every load, store and compare-and-swap of
// Wait, drive, leave, Close and the keeper that others can see is one step, and
// explore tries every order of steps. The names are those of the code.
//
// Covered: Park, Add, the look at driving, Unpark, Sleep; Promote with its
// passes over the herd and dropAwake; leave with its second looks; expiry and
// cancellation, also of one that has just been promoted; completions at any
// time and in any order; Wake from outside and its nudge; Close; the keeper that
// is rung by the eventfd, with an overflowing completion queue.
//
// Not covered: when the alarm rings (Expire may come at any time once a deadline
// has passed), ticks (they would repair after 10 ms what must not break in
// the first place), submission, more than one wait by a caller, and memory
// models weaker than sequential consistency, which is what sync/atomic gives.
// That progress is made is shown as the absence of states in which nobody can
// take a step and something is left to do; endless loops are not looked for.
type mState struct {
	t       [mThreads]mThread
	w       [mCallers]mWaiter
	driving bool
	mu      int8 // who holds Herd.mu, plus 1
	n       bool // Herd.n is not 0
	all     [mCallers]bool
	cq      uint8 // completions in the queue: bit i is caller i's, the last a NOP's
	held    uint8 // and those held back
	flag    bool  // IORING_SQ_CQ_OVERFLOW
	come    uint8 // the callers' completions that the kernel has begun to post
	posting int8  // which of them it is at, plus 1
	full    bool  // it has found the queue full
	armed   bool
	edge    bool // the eventfd has rung since the keeper looked
	ticks   bool // the keeper ticks
	ending  bool
	dead    bool
}

const (
	mCallers = 3
	mKeeper  = mCallers
	mCloser  = mCallers + 1
	mWaker   = mCallers + 2
	mThreads = mCallers + 3
	mNop     = 1 << mCallers
)

type mThread struct {
	pc, back, after mPC // where reap and leave go on
	i               int8
	role            bool // it has the driver's role
	lead            bool // promoted
	canceled        bool
	result          mResult
}

type mWaiter struct {
	signalled, parked, promoted, expired, token, listed, due, done bool
}

type mResult uint8

const (
	mOpen mResult = iota
	mNil
	mGaveUp
	mClosed
)

// mConfig is a situation to explore.
type mConfig struct {
	name     string
	callers  int
	replies  uint8 // whose replies come
	deadline uint8 // who has a deadline
	cancel   uint8 // who is cancelled
	wake     bool  // Wake for caller 0
	watched  bool  // the keeper watches
	cqLen    int   // completions that fit the queue
	closes   bool
	mutant   string
}

func (c *mConfig) is(mutant string) bool { return c.mutant == mutant }

type mPC uint8

const (
	pDone mPC = iota
	// Wait
	pTop
	pDead
	pRole
	pPark
	pListed
	pAdd
	pLook
	pLookDead
	pUnpark
	pSleep
	pCancel
	pToken
	pWhy
	// drive
	pDrive
	pTake
	pBlock
	pTook
	// reap
	pPop
	pFetch
	pSignal
	// leave
	pLeave
	pPromote
	pDropMark
	pDropLook
	pDropped
	pArm
	pFree
	pAsleep
	pScan
	pReady
	pRetake
	pArmLate
	// the keeper, Close and Wake
	kWatch
	kRole
	cEnd
	cRole
	cNudge
	cDead
	cPromote
	wSignal
	wNudge
)

func (c *mConfig) start() mState {
	var s mState
	for i := range c.callers {
		s.t[i].pc = pTop
	}
	if c.watched {
		s.t[mKeeper].pc = kWatch
		s.armed = true
	}
	if c.closes {
		s.t[mCloser].pc = cEnd
	}
	if c.wake {
		s.t[mWaker].pc = wSignal
	}
	return s
}

// post is Waiter.post; taking the bit and sending the token are one step, since
// nobody can tell them apart but the sleeper, who waits for both.
func (w *mWaiter) post(set *bool, needParked bool) (woke bool) {
	if needParked && !w.parked {
		return false
	}
	*set = true
	woke, w.parked = w.parked, false
	w.token = w.token || woke
	return woke
}

func (w *mWaiter) take() bool {
	was := w.signalled
	w.signalled = false
	return was
}

func (s *mState) ready() bool { return s.cq != 0 }

// check finds broken invariants.
func (c *mConfig) check(s *mState) error {
	roles := 0
	for i := range s.t {
		if s.t[i].role {
			roles++
		}
	}
	for i := range s.w {
		if s.w[i].promoted && !s.dead {
			roles++
		}
	}
	switch {
	case roles > 1:
		return fmt.Errorf("%d have the driver's role", roles)
	case !s.dead && s.driving != (roles == 1):
		return fmt.Errorf("driving is %v and %d have the role", s.driving, roles)
	}
	return nil
}

// checkEnd finds what is left undone in a state in which nobody can take a step.
func (c *mConfig) checkEnd(s *mState) error {
	for i := range c.callers {
		if s.t[i].pc != pDone {
			return fmt.Errorf("caller %d waits for ever", i)
		}
		if s.w[i].token {
			return fmt.Errorf("a stale token for caller %d", i)
		}
		// Nobody gives up but for a reason.
		if b := uint8(1) << i; s.t[i].result == mGaveUp && (c.deadline|c.cancel)&b == 0 || s.t[i].result == mClosed && !c.closes {
			return fmt.Errorf("caller %d gave up for no reason", i)
		}
	}
	for i := range s.t {
		if s.t[i].pc != pDone && s.t[i].pc != kWatch {
			return fmt.Errorf("thread %d is stuck at %d", i, s.t[i].pc)
		}
	}
	if c.watched && !c.closes && !s.ticks && (s.cq != 0 || s.held != 0) {
		return fmt.Errorf("completions lie in the ring and nobody looks")
	}
	if s.driving && !s.dead {
		return fmt.Errorf("the driver's role is lost")
	}
	return nil
}

// next calls visit with every state that one step leads to.
func (c *mConfig) next(s *mState, visit func(mState)) {
	for i := range s.t {
		if s.t[i].pc != pDone {
			c.step(*s, i, visit)
		}
	}
	c.world(s, visit)
}

// world is what happens by itself: the kernel posts, time passes, contexts end,
// the keeper expires.
func (c *mConfig) world(s *mState, visit func(mState)) {
	for i := range c.callers {
		bit := uint8(1) << i
		w := &s.w[i]
		if c.replies&bit != 0 && s.come&bit == 0 && s.posting == 0 {
			n := *s
			n.come |= bit
			if c.watched {
				n.posting = int8(i + 1)
				n.full = s.held != 0 || count(s.cq) >= c.cqLen
			} else { // it does not matter in how many steps
				n.cq |= bit
			}
			visit(n)
		}
		if c.deadline&bit != 0 && !w.due {
			n := *s
			n.w[i].due = true
			visit(n)
		}
		if c.cancel&bit != 0 && !w.done {
			n := *s
			n.w[i].done = true
			visit(n)
		}
		if w.due && w.parked && s.all[i] && s.mu == 0 {
			n := *s
			n.w[i].post(&n.w[i].expired, true)
			visit(n)
		}
	}
	if s.posting > 0 { // to the queue or behind it, then the eventfd
		n := *s
		bit := uint8(1) << (s.posting - 1)
		if s.full {
			n.held |= bit
			n.flag = true
		} else {
			n.cq |= bit
		}
		n.posting, n.full = -1, false
		visit(n)
	}
	if s.posting < 0 {
		n := *s
		n.edge = s.edge || s.armed
		n.posting = 0
		visit(n)
	}
}

func count(b uint8) (n int) {
	for ; b != 0; b &= b - 1 {
		n++
	}
	return n
}

// explore visits every reachable state and returns their number, and what is
// wrong with the first bad one.
func (c *mConfig) explore() (states int, err error) {
	seen := map[mState]struct{}{}
	stack := []mState{c.start()}
	seen[stack[0]] = struct{}{}
	for len(stack) > 0 {
		s := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if err := c.check(&s); err != nil {
			return len(seen), fmt.Errorf("%w in %+v", err, s)
		}
		end := true
		c.next(&s, func(n mState) {
			end = false
			if _, ok := seen[n]; !ok {
				seen[n] = struct{}{}
				stack = append(stack, n)
			}
		})
		if end {
			if err := c.checkEnd(&s); err != nil {
				return len(seen), fmt.Errorf("%w in %+v", err, s)
			}
		}
	}
	return len(seen), nil
}
