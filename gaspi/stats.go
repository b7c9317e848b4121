package gaspi

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/tally"
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
	queueWaits, barriers                   atomic.Uint64
	passiveSent, passiveReceived           atomic.Uint64
	notifyWait, barrierWait, allReduceWait atomic.Int64 // nanoseconds; of waits for notifications, those that peers has not
	queueWait                              atomic.Int64 // likewise, for operations of queues
	allReduces                             tally.Tally

	peers peerCounts            // of what is done without a queue, and by queues that are deleted
	base  atomic.Pointer[Stats] // what ResetStats found; nil before

	mu          sync.Mutex                        // held while queues go, so that none is missing from a sum or in it twice
	collectives map[collectiveName]*collectiveSum // guarded by mu
}

// Stats are this rank's counts. They include the counts of deleted queues.
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
		QueueWaits: c.queueWaits.Load(), Barriers: c.barriers.Load(),
		PassiveSent: c.passiveSent.Load(), PassiveReceived: c.passiveReceived.Load(),
		NotifyWait:    time.Duration(c.notifyWait.Load()),
		BarrierWait:   time.Duration(c.barrierWait.Load()),
		AllReduceWait: time.Duration(c.allReduceWait.Load()),
	}
	s.AllReduces, _ = c.allReduces.Read()
	var peers PeerStats
	p.eachCounts(func(_ Rank, n *peerCount) {
		n.addTo(&peers)
		s.NotifyWait += time.Duration(n.notifyWait.Load())
	})
	s.Writes, s.BytesWritten, s.Reads, s.BytesRead = peers.Writes, peers.BytesWritten, peers.Reads, peers.BytesRead
	s.Notifies, s.QueueFull, s.Atomics = peers.Notifies, peers.QueueFull, peers.Atomics
	return s
}

// eachCounts calls do with all counts of peers, those of one peer by and by.
func (p *Proc) eachCounts(do func(r Rank, n *peerCount)) {
	p.stats.mu.Lock()
	defer p.stats.mu.Unlock()
	for _, q := range p.queues.All() {
		q.counts.each(do)
	}
	p.stats.peers.each(do)
}

// retire takes a queue away, and keeps what it has counted.
func (p *Proc) retire(q *Queue) {
	p.stats.mu.Lock()
	defer p.stats.mu.Unlock()
	p.queues.Remove(q.number)
	p.stats.peers.merge(q.counts)
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
