package hoplite

import (
	"context"
	"errors"
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
	own   *gaspi.Group // of the same ranks, for this store alone; revoked by a member whose Open fails
	proc  *gaspi.Proc
	cfg   Config
	lay   layout
	me    int // number of this rank in the group, as in core.Rank

	seg    *gaspi.Segment
	mem    []byte       // of objects
	queue  *gaspi.Queue // to members that share memory with this rank, its own included
	lanes  []*sendQueue // to those that do not; the first carries messages
	inbox  inbox
	lookFn func() bool
	front  atomic.Pointer[openCall] // of the caller that does turns, nil if none does; see await
	back   chan struct{}            // has an element if that caller has left since

	ended     chan struct{}      // closed when the loop has ended
	stopLanes context.CancelFunc // the loop does when it ends
	releasing atomic.Bool        // a Close gives memory and queues back, or has done so
	released  chan struct{}      // closed when it has

	mu       sync.Mutex // guards all below; whoever holds it may do a turn
	core     *core.Core
	output   core.Output
	calls    map[core.CallID]*openCall
	last     core.CallID
	peers    []peer // by number in the group
	active   []transfer
	asked    map[asked]int64 // sizes of what members have asked for
	sent     []uint64        // transfers that have had a put land, and other reports
	reads    atomic.Uint64   // times that a member's store was read; see checkRead
	unread   bool            // a command since the last report could not read a member's store
	gets     map[string][]*openCall
	pulled   []string // ids of objects whose transfer has begun
	followed []*follower
	kernels  map[uint32]kernel
	parts    []stored // of foldNear
	operands [][]byte // of fold
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
	near bool       // its memory can be addressed: what is issued has ended when the call returns
	lane *sendQueue // of its transfers, if it is not near
	mute bool       // it does not take anything any more, though its end was not told yet
	kill bool       // its end was asked for

	in  incoming
	out outgoing
}

// A kernel is an operation on bytes, and the size of an element.
type kernel struct {
	fold  reduce.Fold
	twice reduce.FoldTwice
	size  int
}

// Group is the group that the store was opened over.
func (s *Store) Group() *gaspi.Group { return s.group }

// rankOf is the rank of the job that a member is.
func (s *Store) rankOf(m core.Rank) gaspi.Rank { return s.peers[m].rank }

// loop serves the other members until the store ends, while no caller does.
func (s *Store) loop() {
	defer close(s.ended)
	defer s.stopLanes()
	for {
		if s.front.Load() != nil {
			<-s.back
			continue
		}
		worked, over := s.serve()
		if over {
			return
		}
		if !worked && s.rest(s.seg.WaitFunc(forever, s.lookFn, gaspi.ThroughLosses|gaspi.Asleep)) != nil {
			return
		}
	}
}

// serve does a turn and reports whether the store has ended.
func (s *Store) serve() (worked, over bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	worked = s.turn()
	return worked, s.phase == gone || s.broken != nil
}

// rest ends the store if a wait did not end well.
func (s *Store) rest(err error) error {
	if err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.fail(fmt.Errorf("%w: %w", ErrClosed, err))
	}
	return err
}

// look reports whether there may be something to do for the loop, be it to leave it to a
// caller.
func (s *Store) look() bool { return s.front.Load() != nil || s.mayWork() }

// mayWork reports whether there may be something to do.
func (s *Store) mayWork() bool {
	if !s.mu.TryLock() {
		return true
	}
	defer s.mu.Unlock()
	return s.readyLocked()
}

// await blocks until a call has an event, or ctx ends. The first caller that waits does
// turns itself, and the loop rests meanwhile: a reply then costs no switch from one
// goroutine to another, and two of them do not contend for one core. The others wait
// until they are told.
func (s *Store) await(ctx context.Context, c *openCall) (callEvent, error) {
	if s.front.Load() != c && !s.front.CompareAndSwap(nil, c) {
		select {
		case e := <-c.events:
			return e, nil
		case <-ctx.Done():
			return callEvent{}, ctx.Err()
		}
	}
	defer s.leave()
	for {
		select {
		case e := <-c.events:
			return e, nil
		default:
		}
		if worked, over := s.serve(); worked || over {
			if over {
				return <-c.events, nil // the end of the store has told all calls
			}
			continue
		}
		err := s.rest(s.seg.WaitFunc(ctx, func() bool { return len(c.events) > 0 || s.mayWork() }, gaspi.ThroughLosses))
		if err != nil && ctx.Err() != nil {
			return callEvent{}, ctx.Err()
		}
	}
}

// leave lets the loop do turns again.
func (s *Store) leave() {
	s.front.Store(nil)
	select {
	case s.back <- struct{}{}:
	default:
	}
}

// readyLocked reports whether a turn would find something to do.
func (s *Store) readyLocked() bool {
	if s.inbox.waiting() || len(s.sent) > 0 || s.phase == gone || s.broken != nil || s.own.Revoked() != nil {
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
// caller holds mu. It passes arrivals to the core and carries out the core's commands.
func (s *Store) turn() bool {
	if s.phase == gone || s.broken != nil {
		s.inbox.drop()
		return false
	}
	if err := s.own.Revoked(); err != nil {
		s.fail(fmt.Errorf("%w: %w", ErrClosed, err))
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

// help does a turn if no other goroutine does one, and otherwise makes the loop do one. The
// loop does the work that is left when help has returned. A caller that does turns, and sleeps,
// is woken if the turn had an event for it.
func (s *Store) help() { s.helpBut(nil) }

// helpBut is help by a caller that is about to look at its own events.
func (s *Store) helpBut(own *openCall) {
	if s.mu.TryLock() {
		s.turn()
		left := s.inbox.waiting() || len(s.sent) > 0 || s.phase == gone || s.broken != nil
		s.mu.Unlock()
		if c := s.front.Load(); !left && (c == nil || c == own || len(c.events) == 0) {
			return
		}
	}
	s.ring()
}

// ring wakes the loop, and the caller that does turns.
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
		c.tell(callEvent{err: s.broken})
		delete(s.calls, id)
	}
	s.inbox.shut(s.broken)
}

// Stats are counts of what a rank did for the store since Open.
type Stats struct {
	Calls            uint64 // calls of the program that have begun
	MessagesSent     uint64 // messages of the protocol, to other members
	MessagesReceived uint64 // those from other members
	Chunks           uint64 // parts of objects that were sent, or that others were told to read here
	BytesSent        uint64 // their size
	Folded           uint64 // bytes that were combined into another object
}

// Stats are this rank's counts.
func (s *Store) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stats
}
