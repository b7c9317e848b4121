package gaspi

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/boot"
	"github.com/gaspi-go/gaspi-go/internal/netstat"
	"github.com/gaspi-go/gaspi-go/internal/status"
	"github.com/gaspi-go/gaspi-go/notify"
)

// This file says of waits that last what they wait for, to whoever asks gaspi-run. It runs when a
// wait has slept for notify.LastsAfter, in the waiting goroutine.

// beatPeriod is the time between two rows of a rank that does not begin or end to wait.
const beatPeriod = 500 * time.Millisecond

// A LongWait is what a library on top of this package says of a call that waits, and has done so
// for a while.
type LongWait struct {
	Call   string // such as "allreduce (sum of 10 float64)"
	Detail string // such as "ring, step 3 of 10"
	Since  time.Time
	From   []Rank   // that can end the wait; all of them are needed
	Group  *Group   // whose collective call it is
	Inside *Segment // that the waits are for notifications of: they are not told for themselves
}

// TellWait tells whoever asks gaspi-run for the state of this rank of a wait, until ended is
// called. A library calls it for what has lasted, so that gaspi-run names the library's call, and not
// the waits that it consists of. The place in the program is that of the caller's caller outside of
// the library. It does not block, and does nothing in a job without gaspi-run.
func (p *Proc) TellWait(w LongWait) (ended func()) {
	if p.teller == nil {
		return func() {}
	}
	_, place := status.Caller()
	told := status.Wait{Call: w.Call, Detail: w.Detail, Place: place, Since: w.Since, From: w.From}
	if w.Group != nil {
		told.Group = w.Group.anywhere()
	}
	end := p.teller.Begin(told, nil)
	if w.Inside == nil {
		return end
	}
	w.Inside.told.Add(1)
	return func() {
		w.Inside.told.Add(-1)
		end()
	}
}

// toldClocks are those that libraries tell of.
type toldClocks struct {
	mu  sync.Mutex
	all []*atomic.Uint64 // guarded by mu
}

// most returns the highest, 0 without any.
func (c *toldClocks) most() (most uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, clock := range c.all {
		most = max(most, clock.Load())
	}
	return most
}

// TellClock tells whoever asks gaspi-run for the state of this rank how many calls it has begun of something that ranks
// repeat without waiting for each other, such as a reduction of package ssp, until ended is called. The
// library counts them in clock, which is read twice a second; of several clocks the highest is shown.
func (p *Proc) TellClock(clock *atomic.Uint64) (ended func()) {
	c := &p.clocks
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all = append(c.all, clock)
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.all = slices.DeleteFunc(c.all, func(other *atomic.Uint64) bool { return other == clock })
	}
}

// inherit returns the writer of this rank's row, nil where there is none.
func inherit(info boot.Info, inside bool) (*status.Writer, error) {
	if inside {
		return nil, nil
	}
	return status.Inherit(info.LocalRank, info.LocalSize, info.Size)
}

// tellWaits makes waits that last known. It is called before anything waits.
func (p *Proc) tellWaits(out *status.Writer) {
	if out == nil {
		return
	}
	p.teller = status.NewTeller(out, beatPeriod, p.counts)
	p.wire.Wait.Lasting = p.lasting
}

// measure has the system asked what connections and processors of this rank do, if gaspi-run wants to know.
func (p *Proc) measure() {
	if p.inside {
		return
	}
	info := p.boot.Info() // whatever network is emulated
	out, err := netstat.Inherit(info.LocalRank, info.LocalSize, p.size)
	if err != nil {
		p.cfg.Log.Warn("gaspi: gaspi-run cannot see what connections and processors do", "err", err)
	}
	if out != nil {
		p.sampler = netstat.NewSampler(out, p.wire.Measure)
	}
}

// counts are the counts of this rank, which ResetStats does not change.
func (p *Proc) counts() (status.Counts, status.PeerTable) {
	var t status.PeerTable
	mapped := p.stats.byMappings() // once, so that sums are those of peers
	for _, n := range p.allPeerStats(mapped) {
		t.Peers = append(t.Peers, status.PeerCounts{
			Peer: n.Peer, Writes: n.Writes, BytesWritten: n.BytesWritten, Reads: n.Reads, BytesRead: n.BytesRead,
			Notifications: n.Notifies, QueueFull: n.QueueFull, Atomics: n.Atomics, Messages: n.Messages, Waited: n.Waited,
		})
	}
	for _, n := range p.collectiveStats(mapped) {
		t.Calls = append(t.Calls, status.CallCounts(n))
	}
	s := p.total(mapped)
	return status.Counts{
		Writes: s.Writes, BytesWritten: s.BytesWritten, Reads: s.Reads, BytesRead: s.BytesRead,
		Notifications: s.Notifies, QueueWaits: s.QueueWaits, QueueFull: s.QueueFull, Barriers: s.Barriers, AllReduces: s.AllReduces,
		Atomics: s.Atomics, Messages: s.PassiveSent + s.PassiveReceived,
		Waited: s.NotifyWait + s.BarrierWait + s.AllReduceWait + time.Duration(p.stats.queueWait.Load()),
		Clock:  p.clocks.most(),
	}, t
}

// lasting is notify.WaitPolicy.Lasting. Waits of goroutines of the runtime are no waits of the program.
func (p *Proc) lasting(array *notify.Array, want notify.Condition, since time.Time) (ended func()) {
	call, place := status.Caller()
	if place == "" {
		return nil
	}
	w := status.Wait{Call: call, Place: place, Since: since, Any: true, From: p.peers.Others}
	if array == p.system.Notifications() {
		return p.teller.Begin(w, p.explainSystem(&w, want))
	}
	for _, s := range p.segments.All() {
		if s.mem.Notifications() != array {
			continue
		}
		if s.told.Load() > 0 {
			return nil
		}
		w.Detail, w.From = fmt.Sprintf("segment %d", s.id), s.mayWrite()
		if what := s.explain(want); what != "" {
			w.Detail = what + " of " + w.Detail
		}
	}
	return p.teller.Begin(w, nil)
}

// explain says which notifications a wait is for, nothing if it is for none by number.
func (s *Segment) explain(want notify.Condition) string {
	missing := want.Missing(s.mem.Notifications())
	if len(missing) == 0 {
		return ""
	}
	last := missing[len(missing)-1]
	switch first, count := want.Range(); {
	case len(missing) == 1:
		return fmt.Sprintf("notification %d", last)
	case uint32(len(missing)) == count && want.All():
		return fmt.Sprintf("all notifications %d-%d", first, last)
	case uint32(len(missing)) == count:
		return fmt.Sprintf("one of notifications %d-%d", first, last)
	}
	return fmt.Sprintf("%d notifications from %d on", len(missing), missing[0])
}

// mostNamed is how many ranks an error names that could have ended a wait.
const mostNamed = 8

// waitError is the error of a wait for notifications. If time was up, it says what for and from whom.
func (s *Segment) waitError(op string, want notify.Condition, err error) error {
	failed := segmentError(op, s.id, err)
	e, ok := failed.(*OpError)
	if !ok || !isTimeLimit(err) {
		return failed
	}
	e.Wait = s.explain(want)
	switch from := s.mayWrite(); {
	case e.Wait == "" || len(from) == 0:
	case len(from) <= mostNamed:
		e.Wait += " from " + rankList(from)
	default:
		e.Wait += fmt.Sprintf(" from one of %d ranks", len(from))
	}
	return e
}

// mayWrite returns the other ranks that can post notifications of the segment.
func (s *Segment) mayWrite() []Rank {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Rank(nil), s.writers...)
}

// explainSystem says what a wait for notifications of the runtime is for. The caller's goroutine is
// the one that waits, and so holds what it waits in. If the wait is for several ranks, which may come one
// by one, renew is for any goroutine and says for which ones it still is; else it is nil.
func (p *Proc) explainSystem(w *status.Wait, want notify.Condition) (renew func(w *status.Wait)) {
	first, count := want.Range()
	switch {
	case count == 0:
		return nil
	case first >= p.lay.PassiveReceipt(0):
		w.From, w.Any = []Rank{Rank(first - p.lay.PassiveReceipt(0))}, false
		return nil
	case first >= p.lay.GroupSlot(p.lay.Groups):
		return nil // a passive message of any rank
	}
	g := p.groups.Get(int(first) / p.lay.SlotsOfGroup())
	if g == nil || !g.committed.Load() {
		return nil
	}
	w.Group, w.Any = g.anywhere(), false
	var from []Rank // one for each notification
	switch slot := first - p.lay.GroupSlot(g.index); {
	case slot < p.lay.Group.Internal:
		w.Detail, from = fmt.Sprintf("of %v, number %d", g, g.barrier.epoch), g.barrier.awaits()
	case slot < p.lay.Group.Vector:
		w.Detail, from = fmt.Sprintf("of %v", g), g.internal.awaits()
	case slot < p.lay.Group.Ballot:
		w.Detail, from = fmt.Sprintf("%v, of %v, number %d", g.vector.sig, g, g.vector.epoch), g.vector.awaits(g.vector.stage)
	case slot < p.lay.Group.Turn:
		w.Detail, from = fmt.Sprintf("of %v", g), g.ballot.awaits(g.ballot.stage)
	default:
		return nil
	}
	renew = func(w *status.Wait) {
		w.From = nil
		for _, id := range want.Missing(p.system.Notifications()) {
			w.From = append(w.From, from[id-first])
		}
	}
	renew(w)
	return renew
}

// anywhere is the group as all its members call it, whose numbers of it may differ.
func (g *Group) anywhere() string {
	if g == g.p.world {
		return g.String()
	}
	return rankList(g.Ranks())
}

// awaits returns the ranks whose signals end the round of a barrier, in the order of their notifications.
func (b *barrier) awaits() []Rank { return b.rounds[b.round].from }
