package gaspi_test

import (
	"context"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// counted returns the counts of a rank with its peers, but for the time waited, which differs.
func counted(p *gaspi.Proc) []gaspi.PeerStats {
	var all []gaspi.PeerStats
	for s := range p.PeerStats() {
		if s.Waited = 0; s != (gaspi.PeerStats{Peer: s.Peer}) {
			all = append(all, s)
		}
	}
	return all
}

// TestPeerStats does something with each of some peers, far from each other and of its own rank, by several
// queues of which one is deleted, and compares every count.
func TestPeerStats(t *testing.T) {
	const ranks = 20
	bubble(t, ranks, func(ctx context.Context, p *gaspi.Proc) error {
		s := must(p.CreateSegment(ctx, 0, 64))
		if p.Rank() != 3 {
			if p.Rank() == 5 {
				must2(p.PassiveReceive(ctx, must(s.Span(0, 8))))
			}
			return p.Barrier(ctx, p.World())
		}
		q, src, n := p.MustQueue(0), must(s.Span(0, 8)), gaspi.Notification{ID: 1, Value: 1}
		ok(q.WriteNotify(s.At(3, 8), src, n)) // its own rank
		for range 3 {
			ok(q.WriteNotify(s.At(19, 0), src, n))
		}
		ok(q.Write(s.At(4, 0), must(s.Span(0, 16))))
		ok(q.WriteList([]gaspi.Transfer{{Local: src, Remote: s.At(4, 8)}, {Local: src, Remote: s.At(4, 16)}}))
		ok(q.Read(src, s.At(11, 0)))
		ok(q.ReadNotify(src, s.At(11, 0), n))
		ok(q.Notify(s.At(12, 0), n))
		must(p.FetchAdd(ctx, s.At(12, 0), 1))
		ok(p.PassiveSend(ctx, 5, src))
		ok(q.Wait(ctx))

		gone := must(p.CreateQueue())
		ok(gone.Write(s.At(19, 0), src))
		_ = gone.Write(s.At(19, 1000), src) // refused, so not counted
		ok(gone.Wait(ctx))
		ok(gone.Delete())

		want := []gaspi.PeerStats{
			{Peer: 3, Writes: 1, BytesWritten: 8},
			{Peer: 4, Writes: 3, BytesWritten: 32},
			{Peer: 5, Messages: 1},
			{Peer: 11, Reads: 2, BytesRead: 16},
			{Peer: 12, Notifies: 1, Atomics: 1},
			{Peer: 19, Writes: 4, BytesWritten: 32},
		}
		p.ResetStats()
		if d := cmp.Diff(want, counted(p)); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
		var sum gaspi.Stats
		if d := cmp.Diff(sum, p.Stats()); d != "" {
			t.Errorf("of the rank after a reset (-want +got):\n%s", d)
		}
		return p.Barrier(ctx, p.World())
	})
}

func must2[A, B any](_ A, _ B, err error) { ok(err) }

// TestCountMapped adds counts of code that goes by mappings to those of calls, and resets all.
func TestCountMapped(t *testing.T) {
	bubble(t, 3, func(ctx context.Context, p *gaspi.Proc) error {
		s := must(p.CreateSegment(ctx, 0, 64))
		if p.Rank() > 0 {
			return p.Barrier(ctx, p.World())
		}
		q := p.MustQueue(0)
		ok(q.Write(s.At(1, 0), must(s.Span(0, 8))))
		ok(q.Wait(ctx))
		before := p.Stats()
		mapped := gaspi.MappedStats{QueueWaits: 5, Barriers: 7, BarrierWait: 9, Peers: []gaspi.PeerStats{
			{Peer: 2, Reads: 1, BytesRead: 3, Notifies: 11, QueueFull: 13},
			{Peer: 1, Writes: 17, BytesWritten: 19, Atomics: 23},
			{Peer: 0},
		}}
		p.CountMapped(func() gaspi.MappedStats { return mapped })
		want := before
		want.QueueWaits, want.Barriers, want.BarrierWait = before.QueueWaits+5, before.Barriers+7, before.BarrierWait+9
		want.Writes, want.BytesWritten, want.Reads, want.BytesRead = 18, 27, 1, 3
		want.Notifies, want.QueueFull, want.Atomics = 11, 13, 23
		if d := cmp.Diff(want, p.Stats()); d != "" {
			t.Errorf("of the rank (-want +got):\n%s", d)
		}
		peers := []gaspi.PeerStats{
			{Peer: 1, Writes: 18, BytesWritten: 27, Atomics: 23},
			{Peer: 2, Reads: 1, BytesRead: 3, Notifies: 11, QueueFull: 13},
		}
		if d := cmp.Diff(peers, counted(p)); d != "" {
			t.Errorf("of peers (-want +got):\n%s", d)
		}
		p.ResetStats()
		if mapped.Barriers++; p.Stats() != (gaspi.Stats{Barriers: 1}) {
			t.Errorf("after a reset and a barrier: %+v", p.Stats())
		}
		for _, c := range p.CollectiveStats() {
			if c.Operation == "gaspi.Barrier" && c.Calls != before.Barriers+8 {
				t.Errorf("%d barriers, want %d", c.Calls, before.Barriers+8)
			}
		}
		return p.Barrier(ctx, p.World())
	})
}

// TestPeerStatsOfAFullQueue counts posts that were not issued.
func TestPeerStatsOfAFullQueue(t *testing.T) {
	bubble(t, 2, func(ctx context.Context, p *gaspi.Proc) error {
		s := must(p.CreateSegment(ctx, 0, 64))
		q, src := p.MustQueue(0), must(s.Span(0, 8))
		for range q.Depth() {
			ok(q.Write(s.At(1-p.Rank(), 8), src))
		}
		for range 3 {
			if err := q.Write(s.At(1-p.Rank(), 8), src); err != gaspi.ErrQueueFull {
				t.Errorf("on a full queue: %v", err)
			}
		}
		depth := uint64(q.Depth())
		if d := cmp.Diff([]gaspi.PeerStats{{Peer: 1 - p.Rank(), Writes: depth, BytesWritten: 8 * depth, QueueFull: 3}}, counted(p)); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
		if got := p.Stats().QueueFull; got != 3 {
			t.Errorf("%d of the rank", got)
		}
		return p.Barrier(ctx, p.World())
	})
}

// TestPeerStatsOfMany has goroutines post to the same peers by one queue and by several, while another one
// reads the counts and deletes queues: nothing is lost, and counts only grow.
func TestPeerStatsOfMany(t *testing.T) {
	const posters, times = 4, 500
	cfg := small
	cfg.QueueDepth = posters * times * 2
	err := gaspi.Local(t.Context(), 3, cfg, func(ctx context.Context, p *gaspi.Proc) error {
		s := must(p.CreateSegment(ctx, 0, 64))
		if p.Rank() > 0 {
			return p.Barrier(ctx, p.World())
		}
		var all sync.WaitGroup
		for i := range posters {
			all.Go(func() {
				q := p.MustQueue(0)
				if i%2 == 1 {
					q = must(p.CreateQueue())
				}
				for range times {
					for to := range gaspi.Rank(2) {
						ok(q.WriteNotify(s.At(to+1, 8*uint64(i)), must(s.Span(0, 8)), gaspi.Notification{ID: 1, Value: 1}))
					}
				}
				if i%2 == 1 {
					ok(q.Wait(ctx))
					ok(q.Delete())
				}
			})
		}
		all.Go(func() {
			var before uint64
			for range times {
				now := p.Stats().Writes
				if now < before {
					t.Errorf("%d writes after %d", now, before)
				}
				before = now
			}
		})
		all.Wait()
		want := []gaspi.PeerStats{
			{Peer: 1, Writes: posters * times, BytesWritten: posters * times * 8},
			{Peer: 2, Writes: posters * times, BytesWritten: posters * times * 8},
		}
		if d := cmp.Diff(want, counted(p)); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
		return p.Barrier(ctx, p.World())
	})
	if err != nil {
		t.Error(err)
	}
}

// TestWaitingForAPeer waits in ways that one peer alone can end: the time is that of this peer.
func TestWaitingForAPeer(t *testing.T) {
	bubble(t, 2, func(ctx context.Context, p *gaspi.Proc) error {
		s := must(p.CreateSegment(ctx, 0, 64))
		waits := []func(){
			func() { await(ctx, s, 1) },
			func() { ok(p.Barrier(ctx, p.World())) },
			func() { ok(p.PassiveSend(ctx, 1, must(s.Span(0, 8)))) },
		}
		late := []func(){
			func() { tell(p, s, 0, 1) },
			func() { ok(p.Barrier(ctx, p.World())) },
			func() { must2(p.PassiveReceive(ctx, must(s.Span(0, 8)))) },
		}
		for i := range waits {
			if p.Rank() == 1 {
				quiet(ctx)
				late[i]()
				continue
			}
			before := waitedFor(p, 1)
			waits[i]()
			if got := waitedFor(p, 1) - before; got < 900e6 {
				t.Errorf("wait %d for a second is counted as %v", i, got)
			}
		}
		return p.Barrier(ctx, p.World())
	})
}

// waitedFor is the time that a rank has waited for a peer.
func waitedFor(p *gaspi.Proc, peer gaspi.Rank) int64 {
	for s := range p.PeerStats() {
		if s.Peer == peer {
			return int64(s.Waited)
		}
	}
	return 0
}

// TestCollectiveStatsOfGaspi counts the calls of this package.
func TestCollectiveStatsOfGaspi(t *testing.T) {
	bubble(t, 3, func(ctx context.Context, p *gaspi.Proc) error {
		for range 4 {
			ok(p.Barrier(ctx, p.World()))
		}
		x := make([]int32, 5)
		ok(gaspi.AllReduce(ctx, p.World(), x, x, gaspi.Sum))
		c := p.CollectiveCounter("shuffle", "direct")
		c.Count(7)
		other := p.CollectiveCounter("shuffle", "direct")
		other.Count(3)
		other.Close()
		other.Close() // once more
		c.AddTime(11)
		p.CollectiveCounter("shuffle", "never called")
		got := p.CollectiveStats()
		for i := range got[:2] {
			got[i].Time = 0
		}
		want := []gaspi.CollectiveStats{
			{Operation: "gaspi.AllReduce", Algorithm: "tree", Calls: 1, Bytes: 20},
			{Operation: "gaspi.Barrier", Algorithm: "tree", Calls: 4},
			{Operation: "shuffle", Algorithm: "direct", Calls: 2, Bytes: 10, Time: 11},
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
		return p.Barrier(ctx, p.World())
	})
}
