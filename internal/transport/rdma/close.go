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
	start := time.Now()
	until := start.Add(partingMost)
	t.until(until, t.isIdleLocked)
	t.cancel()
	t.each(func(l *link) {
		if l.used && l.lost.Load() == nil && !l.left { // who has left has had this rank's last word
			l.tellLocked(message{kind: kindBye})
		} else {
			l.parted = true
		}
	})
	silent := false
	t.until(until, func() bool {
		heard := t.isIdleLocked()
		silent = heard
		t.eachLocked(func(l *link) {
			silent = silent && l.isSilentLocked()
			heard = heard && (l.left || l.isSilentLocked())
		})
		return silent || heard && time.Since(start) > partingGrace
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
	for t.fab.poll(t.events) > 0 { // as fatal as what comes while the endpoint closes
	}
	t.regions.closeLocked()
	if silent {
		t.fab.close()
	}
	if t.poller != nil {
		t.poller.Close()
	}
	return nil
}

// isSilentLocked reports whether nothing more comes from the peer: it has heard that
// this rank closes, and that it says so is the last that it sends; or it is dead.
//
// Closing an endpoint to which something comes just then makes libfabric 1.17 receive
// on a connection that it has freed (rxm_close_conn, and what that reads of the
// connection's queue). So an endpoint is left open, until the process ends, if it is
// not known that all are silent.
func (l *link) isSilentLocked() bool { return l.parted || l.lost.Load() != nil && !l.left }

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
