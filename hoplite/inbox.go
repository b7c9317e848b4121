package hoplite

import (
	"sync"
	"sync/atomic"

	"github.com/gaspi-go/gaspi-go/hoplite/internal/core"
)

// An inbox is what goroutines of this rank hand to whoever does the next turn.
type inbox struct {
	count atomic.Int64 // Add in put pairs with the Load in waiting

	mu       sync.Mutex
	requests []submission // guarded by mu
	spare    []submission // guarded by mu; what requests was, empty
	refusal  error        // guarded by mu; why there are no turns any more
}

// A submission is one entry of the inbox; its field what selects the other fields that are set.
type submission struct {
	what   what
	call   *openCall
	number uint64 // released: the reference; sent: the transfer; flushed: the ticket
	upTo   int64  // filled
	peer   int    // flushed
	err    error  // refused
}

type what uint8

const (
	begin    what = iota // a call begins
	cancel               // it is to end
	filled               // bytes of a Put are in the store
	released             // a reference was given up
	sent                 // a put has landed
	flushed              // all puts to a peer have landed
	room                 // a queue that was full has room
	leave                // the store is to be closed
	posted               // something was posted; it is for the lane alone
	refused              // a member has refused something that was posted
)

// put adds a request, or returns why there is nobody to take it.
func (b *inbox) put(r submission) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.refusal != nil {
		return b.refusal
	}
	b.requests = append(b.requests, r)
	b.count.Add(1)
	return nil
}

func (b *inbox) waiting() bool { return b.count.Load() > 0 }

// take returns all requests, which are the caller's until it calls take again.
func (b *inbox) take() []submission {
	if !b.waiting() {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	taken := b.requests
	b.requests, b.spare = b.spare[:0], taken
	b.count.Add(-int64(len(taken)))
	return taken
}

// drop forgets all requests; their calls have been told.
func (b *inbox) drop() { clear(b.take()) }

// shut makes every later put end with err, and tells the calls that have not begun.
func (b *inbox) shut(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.refusal = err
	for _, r := range b.requests {
		if r.what == begin {
			r.call.tell(callEvent{err: err})
		}
	}
}

// takeInbox does what was asked for here. The caller holds mu.
func (s *Store) takeInbox() bool {
	requests := s.inbox.take()
	for i := range requests {
		switch r := &requests[i]; r.what {
		case begin:
			s.beginCall(r.call)
		case cancel:
			s.core.Cancel(r.call.number)
		case filled:
			s.core.Filled(r.call.number, r.upTo)
		case released:
			s.core.Release(r.number)
		case sent:
			s.sent = append(s.sent, r.number)
		case flushed:
			s.peers[r.peer].out.flushed = max(s.peers[r.peer].out.flushed, r.number)
			s.pushMail(r.peer)
		case room:
			s.retry()
		case leave:
			s.beginLeaving()
		case refused:
			s.suspect(nil, r.err)
		}
	}
	clear(requests)
	return len(requests) > 0
}

// beginCall starts a call, unless the store is being closed. The caller holds mu.
func (s *Store) beginCall(c *openCall) {
	if s.phase != open {
		c.tell(callEvent{err: ErrClosed})
		return
	}
	s.last++
	c.number = s.last
	s.calls[c.number] = c
	if c.room != nil {
		s.gets[c.id] = append(s.gets[c.id], c)
	}
	s.stats.Calls++
	c.start(s.core, c.number)
}

// takeSent tells the core what has landed. The caller holds mu.
func (s *Store) takeSent() bool {
	if len(s.sent) == 0 {
		return false
	}
	landed := s.sent
	s.sent = nil
	for _, t := range landed {
		s.core.Sent(t)
	}
	s.sent = append(landed[:0], s.sent...)
	return true
}

// An openCall is a call of the program that is under way.
type openCall struct {
	number core.CallID // set when it begins
	start  func(c *core.Core, id core.CallID)
	events chan callEvent // to the caller
	latest bool           // only the last of several answers counts
	data   []byte         // of a Put: what to store

	// Of a Get that copies.
	id       string
	room     func(size int64) ([]byte, error) // where to; the caller's
	follower *follower                        // guarded by Store.mu
	caught   *follower                        // the caller's: it was told of it
}

// A callEvent is what happens to a call: it is to copy its bytes to the store, or can begin
// to copy them from there, or it has a result, or it ends because the store does.
type callEvent struct {
	fill   bool
	off    int64
	follow *follower
	res    core.CallResult
	err    error
}

// A call has at most two events, or only the last counts: telling never blocks.
func newCall(start func(c *core.Core, id core.CallID)) *openCall {
	return &openCall{start: start, events: make(chan callEvent, 2)}
}

// tell hands an event to the caller. The teller holds Store.mu or inbox.mu.
func (c *openCall) tell(e callEvent) {
	if c.latest {
		select {
		case <-c.events:
		default:
		}
	}
	c.events <- e
}
