package gaspi

import (
	"cmp"
	"iter"
	"slices"
	"sync/atomic"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/tally"
)

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
		for _, s := range p.allPeerStats() {
			if !yield(s) {
				return
			}
		}
	}
}

// allPeerStats returns the counts of each peer of which something was counted, in the order of ranks.
func (p *Proc) allPeerStats() []PeerStats {
	var all []PeerStats
	at := map[Rank]int{}
	p.eachCounts(func(r Rank, n *peerCount) {
		var s PeerStats
		if n.addTo(&s); s == (PeerStats{}) {
			return
		}
		i, ok := at[r]
		if !ok {
			i = len(all)
			at[r], all = i, append(all, PeerStats{Peer: r})
		}
		n.addTo(&all[i])
	})
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

// addTo adds the counts to those of a peer.
func (n *peerCount) addTo(s *PeerStats) {
	count, bytes := n.writes.Read()
	s.Writes, s.BytesWritten = s.Writes+count, s.BytesWritten+bytes
	count, bytes = n.reads.Read()
	s.Reads, s.BytesRead = s.Reads+count, s.BytesRead+bytes
	s.Notifies += n.notifies.Load()
	s.QueueFull += n.full.Load()
	s.Atomics += n.atomics.Load()
	s.Messages += n.messages.Load()
	s.Waited += n.waited()
}

// waited returns the time that was waited for the peer.
func (n *peerCount) waited() time.Duration {
	return time.Duration(n.notifyWait.Load() + n.groupWait.Load())
}
