package gaspi

import (
	"sync/atomic"
	"time"
)

// Stats are counts of what this rank did since it joined or since ResetStats.
type Stats struct {
	Writes       uint64 // writes issued, with or without a notification; a list counts each entry
	BytesWritten uint64 // their payload
	Reads        uint64 // reads issued
	BytesRead    uint64 // their payload
	Notifies     uint64 // notifications issued without data
	QueueWaits   uint64 // calls of Queue.Wait
	QueueFull    uint64 // posts that were not issued because the queue was full
	Barriers     uint64 // barriers begun or resumed
	AllReduces   uint64 // small reductions begun or resumed
	Atomics      uint64 // atomics done

	PassiveSent     uint64 // passive messages sent and received by somebody
	PassiveReceived uint64 // passive messages received

	// Time spent waiting, as far as a wait took more than about a microsecond.
	NotifyWait    time.Duration // for notifications
	BarrierWait   time.Duration // in barriers
	AllReduceWait time.Duration // in small reductions
}

// counters are the live counts. The queues keep the counts of transfers.
type counters struct {
	queueWaits, barriers, allReduces, atomics atomic.Uint64
	queueFull                                 atomic.Uint64
	passiveSent, passiveReceived              atomic.Uint64
	notifyWait, barrierWait, allReduceWait    atomic.Int64 // nanoseconds
	queueWait                                 atomic.Int64 // likewise, for operations of queues

	base atomic.Pointer[Stats] // what ResetStats found; nil before
}

// Stats are this rank's counts. They do not include the counts of deleted queues.
func (p *Proc) Stats() Stats {
	now := p.total()
	if base := p.stats.base.Load(); base != nil {
		now.subtract(base)
	}
	return now
}

// ResetStats makes all counts begin at 0 again.
func (p *Proc) ResetStats() {
	now := p.total()
	p.stats.base.Store(&now)
}

func (p *Proc) total() Stats {
	c := &p.stats
	s := Stats{
		QueueWaits: c.queueWaits.Load(), Barriers: c.barriers.Load(), AllReduces: c.allReduces.Load(),
		QueueFull: c.queueFull.Load(), Atomics: c.atomics.Load(), PassiveSent: c.passiveSent.Load(), PassiveReceived: c.passiveReceived.Load(),
		NotifyWait:    time.Duration(c.notifyWait.Load()),
		BarrierWait:   time.Duration(c.barrierWait.Load()),
		AllReduceWait: time.Duration(c.allReduceWait.Load()),
	}
	for _, q := range p.queues.All() {
		s.Writes += q.writes()
		s.BytesWritten += q.written.Load()
		s.Reads += q.reads.Load()
		s.BytesRead += q.fetched.Load()
		s.Notifies += q.notifies.Load()
	}
	return s
}

func (s *Stats) subtract(b *Stats) {
	for _, f := range []struct{ value, base *uint64 }{
		{&s.Writes, &b.Writes}, {&s.BytesWritten, &b.BytesWritten},
		{&s.Reads, &b.Reads}, {&s.BytesRead, &b.BytesRead}, {&s.Notifies, &b.Notifies},
		{&s.QueueWaits, &b.QueueWaits}, {&s.QueueFull, &b.QueueFull}, {&s.Barriers, &b.Barriers}, {&s.AllReduces, &b.AllReduces},
		{&s.Atomics, &b.Atomics}, {&s.PassiveSent, &b.PassiveSent}, {&s.PassiveReceived, &b.PassiveReceived},
	} {
		*f.value -= min(*f.value, *f.base) // a queue may have been deleted in between
	}
	s.NotifyWait -= b.NotifyWait
	s.BarrierWait -= b.BarrierWait
	s.AllReduceWait -= b.AllReduceWait
}
