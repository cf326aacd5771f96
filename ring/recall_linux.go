package ring

import (
	uring "github.com/iceber/iouring-go/syscall"
	"golang.org/x/sys/unix"

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
		if len(c.into) == 0 || !c.armed || c.canceling || c.dead != nil || !c.diverted.Load() {
			return true // over, or it is on its way
		}
	} else if target = opSend; !c.sending || !c.async || c.recall || c.dead != nil || !c.flying.Wanted() {
		return true // one that is not async ends by itself
	}
	s := e.entry()
	if s == nil {
		return false
	}
	s.PrepOperation(uring.IORING_OP_ASYNC_CANCEL, -1, c.userData(target), 0, 0)
	s.SetUserData(c.userData(k))
	if k == opCancelRecv {
		c.canceling = true
	} else {
		c.recall = true
	}
	e.unclaimed++
	return true
}

// cancelDone takes in the completion of a cancellation: it is about to be carried
// out, or there was nothing to cancel any more, unless the operation was running
// just then (EALREADY in io_uring_enter(2)). Driver only.
func (c *conn) cancelDone(k opKind, res int32) {
	if unix.Errno(-res) != unix.EALREADY {
		return
	}
	if k == opCancelRecv {
		c.canceling = false
	} else {
		c.mu.Lock()
		c.recall = false
		c.mu.Unlock()
	}
	c.e.canceling = append(c.e.canceling, c)
}
