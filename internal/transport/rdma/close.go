package rdma

import (
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/transport/remote"
)

// Close implements transport.Transport. It posts all operations that were issued and sends
// kindBye to all peers. It does not wait for a peer that does not acknowledge it in time. It ends every operation and every wait under way with base.ErrClosed, and is
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
		if l.used && l.peer.Lost() == nil && !l.byeReceived { // a peer that has left has its kindByeAck
			l.sendControlLocked(message{kind: kindBye})
		} else {
			l.byeAcked = true
		}
	})
	silent := false
	t.until(until, func() bool {
		acked := t.isIdleLocked()
		silent = acked
		t.eachLocked(func(l *link) {
			silent = silent && l.isSilentLocked()
			acked = acked && (l.byeReceived || l.isSilentLocked())
		})
		return silent || acked && time.Since(start) > partingGrace
	})
	t.progress.Stop(func() {
		if t.progress.poller != nil {
			t.progress.poller.Wake()
		}
	})
	t.each(func(l *link) {
		l.peer.MarkLost(&base.RankError{Rank: l.peer.Rank, Reason: "this rank has closed"}, false, nil)
		t.failOperationsLocked(l)
	})
	t.array.Close()
	t.work.Wait()
	t.lock()
	defer t.unlock()
	for t.fab.poll(t.events) > 0 { // events after this point would be lost in the same way
	}
	t.memory.closeLocked()
	if silent {
		t.fab.close()
	}
	if t.progress.poller != nil {
		t.progress.poller.Close()
	}
	return nil
}

// isSilentLocked reports whether the peer sends nothing more: it has sent kindByeAck, its
// last message, or it is dead.
//
// Closing an endpoint to which something comes just then makes libfabric 1.17 receive
// on a connection that it has freed (rxm_close_conn, and its reads of the
// connection's queue). So an endpoint is left open, until the process ends, if it is
// not known that all are silent.
func (l *link) isSilentLocked() bool { return l.byeAcked || l.peer.Lost() != nil && !l.byeReceived }

func (t *Transport) each(do func(l *link)) {
	t.lock()
	defer t.unlock()
	t.eachLocked(do)
}

func (t *Transport) eachLocked(do func(l *link)) {
	t.links.Each(do)
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
			time.Sleep(remote.NapLeast) // sleep: some fabrics have no descriptor
		}
	}
}
