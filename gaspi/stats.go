package gaspi

import (
	"cmp"
	"context"
	"encoding/json"
	"iter"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/internal/profile"
	"github.com/gaspi-go/gaspi-go/internal/boot"
	"github.com/gaspi-go/gaspi-go/internal/sys/cpu"
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

	// Time spent waiting, as far as a wait took more than about a microsecond. Of short waits of ranks that share
	// cores a sample stands for all.
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

	peers  peerCounts                         // of what is done without a queue, and by queues that are deleted
	mapped atomic.Pointer[func() MappedStats] // of what is done by mappings; nil without CountMapped
	base   atomic.Pointer[Stats]              // what ResetStats found; nil before

	mu          sync.Mutex                        // held while queues go, so that none is missing from a sum or in it twice
	collectives map[collectiveName]*collectiveSum // guarded by mu
}

// Stats are this rank's counts. They include the counts of deleted queues.
func (p *Proc) Stats() Stats {
	now := p.total(p.stats.byMappings())
	if base := p.stats.base.Load(); base != nil {
		now.subtract(base)
	}
	return now
}

// ResetStats makes all counts begin at 0 again.
func (p *Proc) ResetStats() {
	now := p.total(p.stats.byMappings())
	p.stats.base.Store(&now)
}

// total returns the counts since this rank joined, of which some were done by mappings.
func (p *Proc) total(mapped MappedStats) Stats {
	c := &p.stats
	s := Stats{
		QueueWaits: c.queueWaits.Load() + mapped.QueueWaits, Barriers: c.barriers.Load() + mapped.Barriers,
		PassiveSent: c.passiveSent.Load(), PassiveReceived: c.passiveReceived.Load(),
		NotifyWait:    time.Duration(c.notifyWait.Load()),
		BarrierWait:   time.Duration(c.barrierWait.Load()) + mapped.BarrierWait,
		AllReduceWait: time.Duration(c.allReduceWait.Load()),
	}
	s.AllReduces, _ = c.allReduces.Read()
	var peers PeerStats
	p.eachCounts(func(r Rank, n *peerCount) {
		peers.add(n.read(r))
		s.NotifyWait += time.Duration(n.notifyWait.Load())
	})
	for _, n := range mapped.Peers {
		peers.add(n)
	}
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

// PeerStats are counts of what this rank did with one peer, its own rank included, since it joined.
// They only grow: ResetStats does not change them.
type PeerStats struct {
	Peer         Rank
	Writes       uint64 // issued, with or without a notification; a list counts each entry
	BytesWritten uint64 // their payload
	Reads        uint64 // issued
	BytesRead    uint64 // their payload
	Notifies     uint64 // notifications issued without data
	QueueFull    uint64 // posts that were not issued because the queue was full
	Atomics      uint64 // atomics done
	Messages     uint64 // passive messages that the peer has received

	// Waited is the time spent waiting where the peer alone could end the wait: for notifications of
	// a segment that is registered with no other rank, for the receipt of a passive message, and
	// for a round of a barrier or small reduction. Other time waited is in Stats alone.
	Waited time.Duration
}

// PeerStats yields the counts of this rank for each peer of which something was counted, in the order of
// ranks. It may miss what others count meanwhile.
func (p *Proc) PeerStats() iter.Seq[PeerStats] {
	return func(yield func(PeerStats) bool) {
		for _, s := range p.allPeerStats(p.stats.byMappings()) {
			if !yield(s) {
				return
			}
		}
	}
}

// allPeerStats returns the counts of each peer of which something was counted, in the order of ranks.
func (p *Proc) allPeerStats(mapped MappedStats) []PeerStats {
	var all []PeerStats
	at := map[Rank]int{}
	count := func(n PeerStats) {
		if n == (PeerStats{Peer: n.Peer}) {
			return
		}
		i, ok := at[n.Peer]
		if !ok {
			i = len(all)
			at[n.Peer], all = i, append(all, PeerStats{Peer: n.Peer})
		}
		all[i].add(n)
	}
	p.eachCounts(func(r Rank, n *peerCount) { count(n.read(r)) })
	for _, n := range mapped.Peers {
		count(n)
	}
	slices.SortFunc(all, func(a, b PeerStats) int { return cmp.Compare(a.Peer, b.Peer) })
	return all
}

// A peerCount counts what is done with one peer: by a queue, or by the rank without a queue.
type peerCount struct {
	writes, reads tally.Tally
	notifies      atomic.Uint64 // without data
	full          atomic.Uint64 // posts that were not issued because the queue was full

	// Of the rank alone.
	atomics, messages     atomic.Uint64
	notifyWait, groupWait atomic.Int64 // nanoseconds; see PeerStats.Waited
}

// peerPart is how many peers have their counts in one piece of memory.
const peerPart = 8

// peerCounts are the counts of all peers. They take 1 byte for each rank of the job, and 112 for each
// peer that something was counted of and the others of its part.
type peerCounts []atomic.Pointer[[peerPart]peerCount]

func newPeerCounts(ranks int) peerCounts {
	return make(peerCounts, (ranks+peerPart-1)/peerPart)
}

// at returns the counts of a rank of the job, made if need be.
func (c peerCounts) at(r Rank) *peerCount {
	part := &c[uint32(r)/peerPart]
	if part.Load() == nil {
		part.CompareAndSwap(nil, new([peerPart]peerCount))
	}
	return &part.Load()[uint32(r)%peerPart]
}

// made is at for a rank that something was counted of before. Hot.
func (c peerCounts) made(r Rank) *peerCount {
	return &c[uint32(r)/peerPart].Load()[uint32(r)%peerPart]
}

// each calls do with the counts of all ranks of parts that were made.
func (c peerCounts) each(do func(r Rank, n *peerCount)) {
	for i := range c {
		part := c[i].Load()
		if part == nil {
			continue
		}
		for j := range part {
			do(Rank(i*peerPart+j), &part[j])
		}
	}
}

// merge adds the counts of a queue that is deleted. Nobody changes them any more.
func (c peerCounts) merge(queue peerCounts) {
	queue.each(func(r Rank, from *peerCount) {
		to := c.at(r)
		to.writes.Merge(from.writes.Read())
		to.reads.Merge(from.reads.Read())
		to.notifies.Add(from.notifies.Load())
		to.full.Add(from.full.Load())
	})
}

// read returns the counts, as those of a peer.
func (n *peerCount) read(r Rank) PeerStats {
	s := PeerStats{Peer: r, Notifies: n.notifies.Load(), QueueFull: n.full.Load(), Atomics: n.atomics.Load(), Messages: n.messages.Load(), Waited: n.waited()}
	s.Writes, s.BytesWritten = n.writes.Read()
	s.Reads, s.BytesRead = n.reads.Read()
	return s
}

// add adds other counts, of the same peer or of a sum over peers.
func (s *PeerStats) add(n PeerStats) {
	s.Writes, s.BytesWritten = s.Writes+n.Writes, s.BytesWritten+n.BytesWritten
	s.Reads, s.BytesRead = s.Reads+n.Reads, s.BytesRead+n.BytesRead
	s.Notifies += n.Notifies
	s.QueueFull += n.QueueFull
	s.Atomics += n.Atomics
	s.Messages += n.Messages
	s.Waited += n.Waited
}

// waited returns the time that was waited for the peer.
func (n *peerCount) waited() time.Duration {
	return time.Duration(n.notifyWait.Load() + n.groupWait.Load())
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

// CollectiveStats are counts of the calls of one collective operation that one algorithm did, since this
// rank joined. They only grow.
type CollectiveStats struct {
	Operation string // such as "allreduce"; the calls of this package have its name before theirs
	Algorithm string // such as "ring x4"
	Calls     uint64 // ended without an error; of this package, begun or resumed
	Bytes     uint64 // of this rank's longest vector in each call
	// Time is that from the calls until they have ended; of this package, that waited in them. Of small
	// calls it is estimated from 1 in 256 of them.
	Time time.Duration
}

// CollectiveStats returns the counts of all collective operations of this rank, in the order of their
// names.
func (p *Proc) CollectiveStats() []CollectiveStats { return p.collectiveStats(p.stats.byMappings()) }

func (p *Proc) collectiveStats(mapped MappedStats) []CollectiveStats {
	c := &p.stats
	var all []CollectiveStats
	if n := c.barriers.Load() + mapped.Barriers; n > 0 {
		waited := time.Duration(c.barrierWait.Load()) + mapped.BarrierWait
		all = append(all, CollectiveStats{Operation: "gaspi.Barrier", Algorithm: "tree", Calls: n, Time: waited})
	}
	if n, bytes := c.allReduces.Read(); n > 0 {
		all = append(all, CollectiveStats{Operation: "gaspi.AllReduce", Algorithm: "tree", Calls: n, Bytes: bytes, Time: time.Duration(c.allReduceWait.Load())})
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for name, sum := range c.collectives {
		if s := sum.read(); s.Calls > 0 {
			s.Operation, s.Algorithm = name.operation, name.algorithm
			all = append(all, s)
		}
	}
	slices.SortFunc(all, func(a, b CollectiveStats) int {
		return cmp.Or(cmp.Compare(a.Operation, b.Operation), cmp.Compare(a.Algorithm, b.Algorithm))
	})
	return all
}

// A collectiveName is what a CollectiveCounter counts.
type collectiveName struct{ operation, algorithm string }

// A CollectiveCounter counts the calls of a collective operation by an algorithm, for
// Proc.CollectiveStats. A library on top of this package counts its operations by it. Count, AddTime and
// Close are for one goroutine at a time: a count is a plain addition, which costs no barrier.
type CollectiveCounter struct {
	calls, bytes, nanos atomic.Uint64 // stored by the goroutine that counts, loaded by any
	proc                *Proc
	sum                 *collectiveSum
}

// A collectiveSum is what all counters of a name have counted. It is guarded by stats.mu.
type collectiveSum struct {
	closed CollectiveStats // of counters that were closed
	open   []*CollectiveCounter
}

// read returns the sum, without its name.
func (s *collectiveSum) read() CollectiveStats {
	all := s.closed
	for _, c := range s.open {
		all.Calls += c.calls.Load()
		all.Bytes += c.bytes.Load()
		all.Time += time.Duration(c.nanos.Load())
	}
	return all
}

// CollectiveCounter returns a new counter of an operation, such as "allreduce", and an algorithm, such as
// "ring x4". CollectiveStats adds those of the same names. Close returns its memory.
func (p *Proc) CollectiveCounter(operation, algorithm string) *CollectiveCounter {
	p.stats.mu.Lock()
	defer p.stats.mu.Unlock()
	name := collectiveName{operation, algorithm}
	if p.stats.collectives == nil {
		p.stats.collectives = map[collectiveName]*collectiveSum{}
	}
	sum := p.stats.collectives[name]
	if sum == nil {
		sum = &collectiveSum{}
		p.stats.collectives[name] = sum
	}
	c := &CollectiveCounter{proc: p, sum: sum}
	sum.open = append(sum.open, c)
	return c
}

// Count counts a call with the bytes of this rank's longest vector. It does not block.
func (c *CollectiveCounter) Count(bytes uint64) {
	cpu.StoreRelease64(&c.calls, c.calls.Load()+1)
	cpu.StoreRelease64(&c.bytes, c.bytes.Load()+bytes)
}

// AddTime adds to the time of the calls. It does not block.
func (c *CollectiveCounter) AddTime(d time.Duration) {
	cpu.StoreRelease64(&c.nanos, c.nanos.Load()+uint64(d))
}

// Close ends the counter. CollectiveStats keeps what it has counted. It does not block.
func (c *CollectiveCounter) Close() {
	c.proc.stats.mu.Lock()
	defer c.proc.stats.mu.Unlock()
	i := slices.Index(c.sum.open, c)
	if i < 0 {
		return
	}
	only := collectiveSum{closed: c.sum.closed, open: []*CollectiveCounter{c}}
	c.sum.closed = only.read()
	c.sum.open = slices.Delete(c.sum.open, i, i+1)
}

// PublishVars adds variables to those that gaspi-run --http shows of this rank. each calls add with the name
// of each variable and its value in JSON; it is called whenever somebody looks, in any goroutine. A program
// adds the variables of package expvar by
//
//	p.PublishVars(func(add func(name, value string)) {
//		expvar.Do(func(v expvar.KeyValue) { add(v.Key, v.Value.String()) })
//	})
func (p *Proc) PublishVars(each func(add func(name, value string))) { p.vars.Store(&each) }

// answerTo lets the launcher ask this process for its variables and profiles, where there is one.
func (p *Proc) answerTo(session boot.Session) {
	if s, ok := session.(boot.Answerer); ok {
		s.OnAsk(func(ctx context.Context, question string) ([]byte, error) {
			return profile.Answer(ctx, question, p.variables)
		})
	}
}

// variables are those that package expvar has in every program, those of this rank, and those of the program.
func (p *Proc) variables() ([]byte, error) {
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	own := struct {
		Rank        Rank
		Stats       Stats
		Peers       []PeerStats
		Collectives []CollectiveStats
	}{p.rank, p.Stats(), p.allPeerStats(p.stats.byMappings()), p.CollectiveStats()}
	all := map[string]any{"cmdline": os.Args, "memstats": mem, "gaspi": own}
	if each := p.vars.Load(); each != nil {
		(*each)(func(name, value string) {
			if _, ours := all[name]; ours {
				return
			}
			if all[name] = any(value); json.Valid([]byte(value)) {
				all[name] = json.RawMessage(value)
			}
		})
	}
	return json.Marshal(all)
}
