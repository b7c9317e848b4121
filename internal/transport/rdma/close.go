package rdma

import (
	"time"

	"github.com/gaspi-go/gaspi-go/internal/base"
)

// Close implements transport.Transport. What was issued goes out before, and peers
// are told that this rank leaves; one that does not hear of it in time is not waited
// for. It ends every operation and every wait under way with base.ErrClosed, and is
// idempotent.
func (t *Transport) Close() error {
	if !t.closed.CompareAndSwap(false, true) {
		return nil
	}
	until := time.Now().Add(partingMost)
	t.until(until, t.isIdleLocked)
	t.cancel()
	t.each(func(l *link) {
		if l.used && l.lost.Load() == nil {
			l.tellLocked(message{kind: kindBye})
		} else {
			l.parted = true
		}
	})
	t.until(until, func() bool {
		all := t.isIdleLocked()
		t.eachLocked(func(l *link) { all = all && (l.parted || l.left || l.lost.Load() != nil) })
		return all
	})
	t.drained.Store(true)
	if t.poller != nil {
		t.poller.Wake()
	}
	t.rouse()
	<-t.stopped
	t.each(func(l *link) {
		l.lost.CompareAndSwap(nil, &base.RankError{Rank: l.rank, Reason: "this rank has closed"})
		t.abandonLocked(l)
	})
	t.board.Close()
	t.work.Wait()
	t.lock()
	defer t.unlock()
	for t.fab.poll(t.events) > 0 { // what is left unread is fatal when libfabric 1.17 closes verbs
	}
	t.regions.closeLocked()
	t.fab.close()
	if t.poller != nil {
		t.poller.Close()
	}
	return nil
}

func (t *Transport) each(do func(l *link)) {
	t.lock()
	defer t.unlock()
	t.eachLocked(do)
}

func (t *Transport) eachLocked(do func(l *link)) {
	for i := range t.links {
		if l := t.links[i].Load(); l != nil {
			do(l)
		}
	}
}

// until makes progress until done reports true, or the time is over.
func (t *Transport) until(limit time.Time, done func() bool) {
	for {
		t.lock()
		moved := t.workLocked()
		over := done() || t.broken.Load() || time.Now().After(limit)
		t.unlock()
		if over {
			return
		}
		if !moved {
			time.Sleep(napLeast) // sleep: some fabrics have nothing that tells
		}
	}
}
