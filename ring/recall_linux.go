package ring

import (
	uring "github.com/iceber/iouring-go/syscall"

	"github.com/memring/memring/client/transport"
)

// Memory that is not the connection's is in the kernel's hands while a value lands
// in it, or a lent body is sent. Its owner may want it back before that is done:
// then the operation is cancelled, by the driver, and the memory is free when the
// operation has completed, in whichever way.

// Divert has the driver cancel the receive into the handler's memory.
//
// A wish that is forgotten before the handler is called, as it is on every
// landing, is one that this call answers: whoever wishes has told the handler
// before. One that comes later may be meant for the landing that the call
// begins, and stays; if it was not, it leads to a call for nothing.
func (c *conn) Divert() {
	c.diverted.Store(true)
	c.e.noticeRecall(c)
}

// Reclaim has what is lent copied, or the send that reads it cancelled.
func (c *conn) Reclaim(loan *transport.Loan, w *transport.Waiter) (over bool) {
	c.mu.Lock()
	if c.pending.Keep(loan) || loan.Over() {
		c.mu.Unlock()
		return true
	}
	if c.sending && (c.dead != nil || !c.settle()) && c.flying.Want(loan, w) {
		c.mu.Unlock()
		c.e.noticeRecall(c)
		return false
	}
	c.flying.Keep(loan)
	c.mu.Unlock()
	return true
}

// noticeRecall brings c to the driver's notice.
func (e *Engine) noticeRecall(c *conn) {
	e.mu.Lock()
	e.recalling = append(e.recalling, c)
	e.anyRecalling.Store(true)
	e.mu.Unlock()
	e.nudge()
}

// takeRecalling deals with the connections that want memory back: what is not in
// the kernel is ended here, the rest kept for fillCancels. Driver only.
func (e *Engine) takeRecalling() {
	if !e.anyRecalling.Load() {
		return
	}
	e.mu.Lock()
	e.canceling = append(e.canceling, e.recalling...)
	clear(e.recalling)
	e.recalling = e.recalling[:0]
	e.anyRecalling.Store(false)
	e.mu.Unlock()
	for _, c := range e.canceling {
		c.divertNow()
	}
}

// divertNow ends a landing whose receive is not in the kernel. Driver only.
func (c *conn) divertNow() {
	if len(c.into) > 0 && !c.armed && !c.gone.Load() && c.diverted.Swap(false) {
		var err error
		if c.into, err = c.h.Landed(0); err != nil {
			c.e.fail(c, err)
		}
	}
}

// fillCancels makes entries that cancel what shall end. Driver only, mu is held.
func (e *Engine) fillCancels() {
	for i, c := range e.canceling {
		if !e.fillCancel(c, opCancelRecv) || !e.fillCancel(c, opCancelSend) {
			e.canceling = e.canceling[:copy(e.canceling, e.canceling[i:])]
			return
		}
	}
	clear(e.canceling)
	e.canceling = e.canceling[:0]
}

// fillCancel makes one such entry if there is reason to. It returns false if there
// is no room for it. mu is held.
func (e *Engine) fillCancel(c *conn, k opKind) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	target := opRecv
	if k == opCancelRecv {
		if len(c.into) == 0 || !c.armed || !c.canceling.due() || c.dead != nil || !c.diverted.Load() {
			return true // over, or it is on its way
		}
	} else if target = opSend; !c.sending || !c.async || !c.recall.due() || c.dead != nil || !c.flying.Wanted() {
		return true // one that is not async ends by itself
	}
	s := e.entry()
	if s == nil {
		return false
	}
	s.PrepOperation(uring.IORING_OP_ASYNC_CANCEL, -1, c.userData(target), 0, 0)
	s.SetUserData(c.userData(k))
	if k == opCancelRecv {
		c.canceling.asked = true
	} else {
		c.recall.asked = true
	}
	e.unclaimed++
	return true
}

// cancelDone takes in the completion of a cancellation. Whatever it says, the
// operation may go on, and is cancelled again if its completion does not come with
// this one: see canceling. Driver only.
func (c *conn) cancelDone(k opKind, res int32) {
	if k == opCancelRecv {
		c.canceling.answered(res)
	} else {
		c.mu.Lock()
		c.recall.answered(res)
		c.mu.Unlock()
	}
	c.e.canceling = append(c.e.canceling, c)
}

// canceling is how far the cancellation of one operation has come. The operation
// may be running just then (EALREADY in io_uring_enter(2)), or about to run again
// and not be found (ENOENT). It may even go on although it was said to end: in Linux
// 6.1, io_apoll_task_func looks for a cancellation before it takes the lock under
// which cancellations are made, and so does not see one that it waits for. That
// answer usually means what it says, if not at once, so it is doubted only once.
type canceling struct {
	asked    bool // a cancellation is in the kernel
	promised int  // how many were to be carried out
}

func (x *canceling) due() bool { return !x.asked && x.promised < 2 }

func (x *canceling) answered(res int32) {
	x.asked = false
	if res == 0 {
		x.promised++
	}
}
