package gaspi

import (
	"cmp"
	"iter"
	"slices"
	"time"
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
