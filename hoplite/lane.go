package hoplite

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/hoplite/internal/core"
)

// A sendQueue is a queue to members whose memory this rank cannot address, and a goroutine that
// waits for what was issued on it. Those who issue never wait.
type sendQueue struct {
	queue *gaspi.Queue
	hand  func(submission) // takes what has ended
	work  chan struct{}    // has an element if there is something to wait for
	ended chan struct{}
	held  []core.Command // puts for which the queue has no room; guarded by Store.mu
	full  bool           // somebody waits for room; guarded by Store.mu
	later *time.Timer    // asks for a look at what was posted
	due   atomic.Bool    // later goes

	mu      sync.Mutex
	waiters []submission // guarded by mu; who wants to be told, in order
	ranks   map[int]gaspi.Rank
}

func newLane(q *gaspi.Queue, ranks map[int]gaspi.Rank, hand func(submission)) *sendQueue {
	l := &sendQueue{queue: q, ranks: ranks, hand: hand, work: make(chan struct{}, 1), ended: make(chan struct{})}
	l.later = time.AfterFunc(lookLater, func() {
		l.due.Store(false)
		l.ask(submission{what: posted})
	})
	l.later.Stop()
	return l
}

// lookLater is how long after a post a lane looks whether a member has refused it, if nobody asks
// for that before.
const lookLater = 250 * time.Millisecond

// posted makes sure that the lane looks in a while at what has become of a post.
func (l *sendQueue) posted() {
	if !l.due.Load() && !l.due.Swap(true) {
		l.later.Reset(lookLater)
	}
}

// ask has r handed back when all that was issued before has ended here; for flushed, when
// it has arrived there.
func (l *sendQueue) ask(r submission) {
	l.mu.Lock()
	l.waiters = append(l.waiters, r)
	l.mu.Unlock()
	select {
	case l.work <- struct{}{}:
	default:
	}
}

// askRoom has whoever does turns told when the queue has room again.
func (l *sendQueue) askRoom() {
	if !l.full {
		l.full = true
		l.ask(submission{what: room})
	}
}

// loop waits for what was issued, until ctx ends.
func (l *sendQueue) loop(ctx context.Context) {
	defer close(l.ended)
	defer l.later.Stop()
	var batch []submission
	for l.wanted(ctx) {
		l.mu.Lock()
		batch, l.waiters = l.waiters, batch[:0]
		l.mu.Unlock()
		if len(batch) == 0 {
			continue
		}
		// An operation that fails has ended, too. If its member is gone, the store learns that
		// elsewhere.
		err := l.queue.Wait(ctx)
		switch {
		case errors.Is(err, gaspi.ErrClosed) || ctx.Err() != nil:
			return
		case errors.Is(err, gaspi.ErrNoSegment):
			l.hand(submission{what: refused, err: err})
		}
		for _, r := range batch {
			switch r.what {
			case posted:
				continue
			case flushed:
				_ = l.queue.Flush(ctx, l.ranks[r.peer])
			}
			l.hand(r)
		}
		clear(batch)
	}
}

// wanted waits for work, and reports false when there will be none.
func (l *sendQueue) wanted(ctx context.Context) bool {
	select {
	case <-l.work:
		return true
	case <-ctx.Done():
		return false
	}
}

// put writes a chunk to a member's store, and then the word of its slot.
func (s *Store) put(cmd *core.Command) {
	p := &s.peers[cmd.Peer]
	if p.lane != nil {
		p.lane.held = append(p.lane.held, *cmd)
		s.putHeld(p.lane)
		return
	}
	src, dst, n := s.ends(cmd)
	if p.live && !p.mute {
		// It has landed when the call returns, and so have all before it.
		s.post(p, nil, func(q *gaspi.Queue) error { return q.WriteNotify(dst, src, n) })
	}
	s.sent = append(s.sent, cmd.Transfer)
}

// ends are source, destination and word of a put.
func (s *Store) ends(cmd *core.Command) (gaspi.Span, gaspi.Remote, gaspi.Notification) {
	src := s.span(s.lay.objects()+uint64(cmd.Src), int(cmd.Len))
	size := s.asked[asked{cmd.Peer, cmd.Slot}]
	n := gaspi.Notification{ID: s.lay.word(cmd.Slot), Value: wordOf(cmd.Watermark, size)}
	s.stats.Chunks++
	s.stats.BytesSent += uint64(cmd.Len)
	return src, s.seg.At(s.rankOf(cmd.Peer), s.lay.objects()+uint64(cmd.Off)), n
}

// span returns part of the store's segment, in bytes. It is empty if the rank has closed
// meanwhile: then so is the queue that it is for.
func (s *Store) span(at uint64, size int) gaspi.Span {
	part, err := s.seg.Span(at, uint64(size))
	if err != nil && !errors.Is(err, gaspi.ErrClosed) {
		panic("hoplite: outside the segment: " + err.Error())
	}
	return part
}

// putHeld issues puts of a lane while its queue has room. Only the notification comes after
// all earlier writes of the queue: a WriteNotify would tell of its own bytes alone.
func (s *Store) putHeld(l *sendQueue) {
	for len(l.held) > 0 {
		cmd := &l.held[0]
		p := &s.peers[cmd.Peer]
		if p.live && !p.mute {
			if l.queue.Depth()-l.queue.Size() < 2 {
				l.askRoom()
				return
			}
			src, dst, n := s.ends(cmd)
			s.post(p, l, func(q *gaspi.Queue) error { return q.Write(dst, src) })
			s.post(p, l, func(q *gaspi.Queue) error { return q.Notify(dst, n) })
		}
		l.ask(submission{what: sent, number: cmd.Transfer})
		l.held = l.held[1:]
	}
	l.held = nil
}

// flush asks that all puts to a member land, and returns the ticket that says so.
func (s *Store) flush(to int) uint64 {
	p := &s.peers[to]
	p.out.tickets++
	p.lane.ask(submission{what: flushed, peer: to, number: p.out.tickets})
	return p.out.tickets
}

// retry goes on with what a full queue has stopped. The caller holds mu.
func (s *Store) retry() {
	for _, l := range s.lanes {
		l.full = false
		s.putHeld(l)
	}
	for i := range s.peers {
		if i != s.me {
			s.pushMail(i)
			s.giveCredit(i)
		}
	}
}
