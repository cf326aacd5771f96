package ring

import "slices"

// step takes thread i's next step, if it can: see Wait, drive, leave and Close.
// s is a copy, to be changed.
func (c *mConfig) step(s mState, i int, visit func(mState)) {
	t := &s.t[i]
	w := &s.w[min(i, mCallers-1)] // a caller's own
	to := func(pc mPC) {
		switch { // steps that see nothing need not be taken
		case pc == pDead && !c.closes:
			pc = pRole
		case pc == pLookDead && !c.closes:
			pc = pSleep
		}
		if pc == pRole && t.role {
			pc = pDrive
		}
		t.pc = pc
		visit(s)
	}
	finish := func(r mResult) { t.result = r; to(pDone) }
	leave := func(r mResult) { t.result, t.after = r, pDone; to(pLeave) }

	switch t.pc {
	case pTop:
		if !w.take() {
			to(pDead)
		} else if t.role {
			leave(mNil)
		} else {
			finish(mNil)
		}
	case pDead:
		if s.dead {
			finish(mClosed)
		} else {
			to(pRole)
		}
	case pRole:
		if t.role {
			to(pDrive)
		} else if !s.driving {
			s.driving, t.role = true, true
			to(pDrive)
		} else if c.is("add before park") {
			to(pListed)
		} else {
			to(pPark)
		}
	case pPark:
		switch {
		case w.signalled:
			to(pTop)
		case c.is("add before park"):
			w.parked = true
			to(pLook)
		default:
			w.parked = true
			to(pListed)
		}
	case pListed:
		added := pLook
		if c.is("add before park") {
			added = pPark
		}
		if w.listed {
			to(added)
			return
		}
		t.back = added
		to(pAdd)
	case pAdd:
		if s.mu == 0 {
			w.listed, s.all[i], s.n = true, true, true
			to(t.back)
		}
	case pLook:
		switch {
		case c.is("no look after park"):
			to(pSleep)
		case !s.driving:
			to(pUnpark)
		case c.is("no look for the end after park"):
			to(pSleep)
		default:
			to(pLookDead)
		}
	case pLookDead:
		if s.dead {
			to(pUnpark)
		} else {
			to(pSleep)
		}
	case pUnpark:
		if w.parked {
			w.parked = false
			to(pTop)
		} else {
			to(pSleep)
		}
	case pSleep:
		if w.done { // select takes either
			n := s
			n.t[i].pc, n.t[i].canceled = pCancel, true
			visit(n)
		}
		if w.token {
			w.token = false
			to(pWhy)
		}
	case pCancel:
		if w.parked {
			w.parked = false
			to(pWhy)
		} else {
			to(pToken)
		}
	case pToken:
		if w.token {
			w.token = false
			to(pWhy)
		}
	case pWhy:
		t.lead = w.promoted
		t.role = t.lead && !s.dead // what Close promotes, it promotes to nothing
		over := w.expired || t.canceled
		w.promoted, w.expired = false, false
		if !over {
			to(pTop)
			return
		}
		r := mGaveUp
		if w.take() {
			r = mNil
		}
		if t.role && !c.is("late leader keeps the role") {
			leave(r)
		} else {
			finish(r)
		}

	case pDrive:
		s.armed = false
		t.back = pTake
		to(pPop)
	case pTake:
		if w.take() {
			leave(mNil)
		} else {
			to(pBlock)
		}
	case pBlock:
		if s.ready() || s.flag || w.due || w.done {
			t.back = pTook
			to(pPop)
		}
	case pTook:
		switch {
		case w.take():
			leave(mNil)
		case w.due || w.done:
			leave(mGaveUp)
		case s.ending:
			leave(mClosed)
		default:
			to(pTake)
		}

	case pPop:
		for b := range int8(mCallers + 1) {
			if s.cq&(1<<b) == 0 {
				continue
			}
			n := s
			n.cq &^= 1 << b
			if b < mCallers {
				n.t[i].i, n.t[i].pc = b, pSignal
			}
			visit(n)
		}
		if s.cq == 0 {
			to(pFetch)
		}
	case pFetch:
		if !s.flag {
			to(t.back)
			return
		}
		for s.held != 0 && count(s.cq) < c.cqLen {
			b := s.held & -s.held
			s.held &^= b
			s.cq |= b
		}
		s.flag = s.held != 0
		to(pPop)
	case pSignal:
		o := &s.w[t.i]
		o.post(&o.signalled, false)
		t.i = 0
		to(pPop)

	default:
		c.stepLeave(s, i, visit)
	}
}

// stepLeave has the steps of leave, and of those who are no callers.
func (c *mConfig) stepLeave(s mState, i int, visit func(mState)) {
	t := &s.t[i]
	to := func(pc mPC) { t.pc = pc; visit(s) }
	each := func(again, next mPC) { // goes through the herd
		for t.i++; int(t.i) < c.callers && !s.all[t.i]; t.i++ {
		}
		t.pc = again
		if int(t.i) >= c.callers {
			t.i = 0
			t.pc = next
		}
		visit(s)
	}
	gone := func() { t.role = false; to(t.after) }

	switch t.pc {
	case pLeave:
		if !s.n {
			to(pArm)
		} else if s.mu == 0 {
			s.mu = int8(i + 1)
			to(pPromote)
		}
	case pPromote: // one waiter a step
		if w := &s.w[t.i]; s.all[t.i] && w.post(&w.promoted, true) {
			s.mu, t.i, t.role = 0, 0, false
			to(t.after)
			return
		}
		each(pPromote, pDropMark)
	case pDropMark:
		if !s.all[t.i] {
			each(pDropMark, pDropped)
			return
		}
		if c.is("dropAwake looks first") {
			if s.w[t.i].parked {
				each(pDropMark, pDropped)
				return
			}
		} else {
			s.w[t.i].listed = false
		}
		to(pDropLook)
	case pDropLook:
		if c.is("dropAwake looks first") {
			s.w[t.i].listed, s.all[t.i] = false, false
		} else if s.w[t.i].parked {
			s.w[t.i].listed = true
		} else {
			s.all[t.i] = false
		}
		each(pDropMark, pDropped)
	case pDropped:
		s.n = s.all != [mCallers]bool{}
		s.mu = 0
		to(pArm)
	case pArm:
		if c.watched && !s.ticks && !c.is("armed after the look") {
			s.armed = true
		}
		to(pFree)
	case pFree:
		s.driving, t.role = false, false
		if c.is("no look for sleepers after leaving") {
			to(pReady)
			return
		}
		to(pAsleep)
	case pAsleep:
		if !s.n {
			to(pReady)
		} else if s.mu == 0 {
			s.mu = int8(i + 1)
			to(pScan)
		}
	case pScan:
		if s.all[t.i] && s.w[t.i].parked {
			s.mu, t.i = 0, 0
			to(pRetake)
			return
		}
		if rest := s.all[t.i+1 : c.callers]; !slices.Contains(rest, true) {
			s.mu = 0
		}
		each(pScan, pReady)
	case pReady:
		see := s.ready() || s.flag && !c.is("overflow is not looked for")
		if c.is("no look at the queue after leaving") {
			see = false
		}
		if c.watched && !s.ticks && see {
			to(pRetake)
			return
		}
		if c.watched && c.is("armed after the look") {
			to(pArmLate)
			return
		}
		gone()
	case pArmLate:
		s.armed = true
		gone()
	case pRetake:
		if s.driving {
			gone()
			return
		}
		s.driving, t.role, s.armed = true, true, false
		t.back = pLeave
		to(pPop)

	case kWatch:
		if s.edge {
			s.edge = false
			if s.ready() || s.flag && !c.is("overflow is not looked for") {
				t.pc = kRole
			}
			visit(s)
		}
	case kRole:
		if s.driving { // callers have come
			s.ticks = true
			to(pDone)
			return
		}
		s.driving, t.role, s.armed = true, true, false
		t.back, t.after = pLeave, kWatch
		to(pPop)

	case cEnd: // once all connections are gone, and so their callers signalled
		if s.come == c.replies && s.posting == 0 && s.cq&^mNop == 0 && s.held == 0 {
			s.ending = true
			to(cRole)
		}
	case cRole:
		if s.driving {
			to(cNudge)
			return
		}
		s.driving = true
		t.role = true
		to(cDead)
	case cNudge:
		s.cq |= mNop
		s.edge = s.edge || s.armed
		to(cRole)
	case cDead:
		s.dead, t.role = true, false
		if c.is("Close wakes nobody") {
			to(pDone)
			return
		}
		to(cPromote)
	case cPromote: // the loop over Promote, dropAwake left out
		if s.mu == 0 {
			for j := range c.callers {
				if w := &s.w[j]; s.all[j] && w.post(&w.promoted, true) {
					visit(s)
					return
				}
			}
			to(pDone)
		}

	case wSignal:
		if w := &s.w[0]; w.post(&w.signalled, false) || c.is("Wake does not nudge") {
			to(pDone)
		} else {
			to(wNudge)
		}
	case wNudge:
		s.cq |= mNop
		s.edge = s.edge || s.armed
		to(pDone)
	}
}
