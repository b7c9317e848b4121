package hoplite

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/hoplite/internal/core"
	"github.com/gaspi-go/gaspi-go/internal/reduce"
)

// A Store is one rank's part of an object store over a group. Several may exist at a
// time. All its calls may be made by many goroutines at once.
type Store struct {
	group *gaspi.Group
	proc  *gaspi.Proc
	cfg   Config
	lay   layout
	me    int // number of this rank in the group, as in core.Rank

	seg    *gaspi.Segment
	mem    []byte       // of objects
	queue  *gaspi.Queue // to members that share memory with this rank, its own included
	lanes  []*lane      // to those that do not; the first carries messages
	inbox  inbox
	lookFn func() bool

	ended     chan struct{} // closed when the loop has ended
	stopLanes context.CancelFunc
	released  atomic.Bool // memory and queues were given back

	mu       sync.Mutex // guards all below; whoever holds it may do a turn
	core     *core.Core
	output   core.Output
	calls    map[core.Call]*call
	last     core.Call
	peers    []peer // by number in the group
	active   []transfer
	asked    map[asked]int64 // sizes of what members have asked for
	sent     []uint64        // transfers that have had a put land
	gets     map[string][]*call
	pulled   []string // ids of objects whose transfer has begun
	followed []*follower
	kernels  map[uint32]kernel
	phase    phase
	broken   error
	stats    Stats
}

// A transfer is one that a slot of this rank receives.
type transfer struct {
	slot uint32
	size int64
	from core.Rank
}

// asked names a slot of a member.
type asked struct {
	peer core.Rank
	slot uint32
}

// A peer is a member as this one sees it; also this one itself.
type peer struct {
	rank gaspi.Rank
	live bool
	near bool  // its memory can be addressed: what is issued has ended when the call returns
	lane *lane // of its transfers, if it is not near
	mute bool  // it does not take anything any more, though its end was not told yet
	kill bool  // its end was asked for

	in  incoming
	out outgoing
}

// A kernel is an operation on bytes, and the size of an element.
type kernel struct {
	two  reduce.Kernel
	size int
}

// Group is the group that the store was opened over.
func (s *Store) Group() *gaspi.Group { return s.group }

// rankOf is the rank of the job that a member is.
func (s *Store) rankOf(m core.Rank) gaspi.Rank { return s.peers[m].rank }

// loop serves the other members until the store ends.
func (s *Store) loop() {
	defer close(s.ended)
	for {
		s.mu.Lock()
		worked := s.turn()
		over := s.phase == gone || s.broken != nil
		s.mu.Unlock()
		if over {
			return
		}
		if worked {
			continue
		}
		if err := s.seg.WaitThrough(forever, s.lookFn); err != nil {
			s.mu.Lock()
			s.fail(fmt.Errorf("%w: %w", ErrClosed, err))
			s.mu.Unlock()
			return
		}
	}
}

// look reports whether there may be something to do.
func (s *Store) look() bool {
	if !s.mu.TryLock() {
		return true
	}
	defer s.mu.Unlock()
	return s.readyLocked()
}

// readyLocked reports whether a turn would find something to do.
func (s *Store) readyLocked() bool {
	if s.inbox.waiting() || len(s.sent) > 0 || s.phase == gone || s.broken != nil {
		return true
	}
	for i := range s.peers {
		if p := &s.peers[i]; p.live && i != s.me && (s.hasMail(i) || s.hasCredit(p, i) || s.hasEnded(p)) {
			return true
		}
	}
	return slices.ContainsFunc(s.active, func(t transfer) bool { return s.seg.Peek(s.lay.word(t.slot)) != 0 })
}

// turn does what there is to do, once round, and reports whether it found anything. The
// caller holds mu. What arrives goes in, and what the core wants is done.
func (s *Store) turn() bool {
	if s.phase == gone || s.broken != nil {
		s.inbox.drop()
		return false
	}
	worked := s.takeInbox()
	worked = s.readWords() || worked
	for i := range s.peers {
		if i == s.me || !s.peers[i].live {
			continue
		}
		worked = s.readMail(i, mailBatch) || worked
		worked = s.takeCredit(i) || worked
		worked = s.bury(i) || worked
	}
	worked = s.takeSent() || worked
	for s.drain() {
		worked = true
	}
	s.followPulled()
	s.advancePhase()
	return worked
}

// help does a turn if nobody else does, and otherwise sees to it that somebody will. What
// is left when it has ended is for the loop.
func (s *Store) help() {
	if s.mu.TryLock() {
		s.turn()
		left := s.inbox.waiting() || len(s.sent) > 0 || s.phase == gone || s.broken != nil
		s.mu.Unlock()
		if !left {
			return
		}
	}
	s.ring()
}

// ring wakes the loop.
func (s *Store) ring() {
	n := gaspi.Notification{ID: s.lay.doorbell(), Value: 1}
	_ = s.queue.Notify(s.seg.At(s.proc.Rank(), 0), n) // it fails only if there is no loop any more
}

// fail ends the store here: all calls end with err. The caller holds mu.
func (s *Store) fail(err error) {
	if s.broken == nil {
		s.broken = err
	}
	for id, c := range s.calls {
		c.tell(event{err: s.broken})
		delete(s.calls, id)
	}
	s.inbox.shut(s.broken)
}
