// Package shm connects ranks that are processes of one host: the caller copies
// into the peer's mapped memory and stores the flag. No system call is made
// unless somebody sleeps, and no thread of the peer is needed.
//
// A segment of memory that its owner bound cannot be mapped. Operations on it are
// requests that one goroutine of the owner carries out (see owner); they too are
// complete when they return, so an operation on a bound segment lasts until the
// owner's process has been given a core.
//
// Memory files travel without a name: a rank publishes its process id and a
// descriptor number, and a peer opens them through /proc. When every process is
// killed, nothing is left.
package shm

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/sys"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/notify"
	"github.com/gaspi-go/gaspi-go/segment"
)

// A Find returns what Address was at rank r, and blocks until that is known.
type Find func(ctx context.Context, r base.Rank) (string, error)

// address is what a rank publishes at start.
type address struct {
	PID  int // process id
	Card int // descriptor of the card in that process
}

// Transport is one rank's side.
type Transport struct {
	rank base.Rank
	size int
	ids  int
	find Find

	own     *card
	ownFile int
	wait    *notify.WaitPolicy

	mu       sync.Mutex
	exposed  map[segment.ID]*segment.Segment // guarded by mu
	closed   bool                            // guarded by mu
	owner    *owner                          // guarded by mu; nil until the first bound segment is exposed
	last     uint64                          // guarded by mu; generation given last
	links    []*peerLink                     // guarded by mu; index is the rank; nil until used
	lostWhen []*base.RankError               // guarded by mu; index is the rank
}

var _ transport.Transport = (*Transport)(nil)

// Join makes the transport of rank r of size, for segment ids below ids. It is
// local: peers are found when they are first used.
func Join(r base.Rank, size, ids int, find Find) (*Transport, error) {
	own, fd, err := makeCard(size, ids)
	if err != nil {
		return nil, fmt.Errorf("shared memory: %w", err)
	}
	t := &Transport{
		rank: r, size: size, ids: ids, find: find, own: own, ownFile: fd,
		wait:     notify.ProcessWait(0, defaultYield),
		exposed:  make(map[segment.ID]*segment.Segment),
		links:    make([]*peerLink, size),
		lostWhen: make([]*base.RankError, size),
	}
	return t, nil
}

// Address is what peers of this host need to find this rank.
func (t *Transport) Address() string {
	text, err := json.Marshal(address{PID: os.Getpid(), Card: t.ownFile})
	if err != nil {
		panic(err) // two numbers
	}
	return string(text)
}

// defaultYield is about what a sleep and a wake-up across cores cost together.
const defaultYield = 100 * time.Microsecond

// WaitWith says how this rank waits for the owners of bound segments, and for
// requests for its own. It is called before the transport is used; without it,
// waits yield for a while and then sleep.
func (t *Transport) WaitWith(w *notify.WaitPolicy) { t.wait = w }

// Name implements transport.Transport.
func (t *Transport) Name() string { return "shm" }

// Link implements transport.Transport.
func (t *Transport) Link(r base.Rank) (transport.Link, error) {
	if r < 0 || int(r) >= t.size {
		return nil, fmt.Errorf("%w: %d", base.ErrBadRank, r)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.links[r] == nil {
		t.links[r] = newPeerLink(t, r)
		if lost := t.lostWhen[r]; lost != nil {
			t.links[r].Lose(lost)
		}
	}
	return t.links[r], nil
}

// Expose implements transport.Transport.
func (t *Transport) Expose(id segment.ID, s *segment.Segment) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return base.ErrClosed
	}
	if t.exposed[id] != nil {
		return fmt.Errorf("segment %d is in use", id)
	}
	if s.File() < 0 {
		return fmt.Errorf("segment %d has no memory file, so no other process can reach it: make it with segment.Create or segment.BindShared", id)
	}
	if s.Bound() && t.owner == nil {
		o, err := newOwner(t.own, t.wait)
		if err != nil {
			return err
		}
		t.owner = o
	}
	t.last++
	t.exposed[id] = s
	if s.Bound() {
		t.owner.add(id, t.last, s)
	}
	t.own.publish(id, t.last, s)
	return nil
}

// Grant implements transport.Transport.
func (t *Transport) Grant(id segment.ID, r base.Rank) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.exposed[id] == nil {
		return fmt.Errorf("%w: id %d", base.ErrNoSegment, id)
	}
	t.own.grant(id, r)
	return nil
}

// Withdraw implements transport.Transport.
func (t *Transport) Withdraw(id segment.ID) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.exposed[id] == nil {
		return fmt.Errorf("%w: id %d", base.ErrNoSegment, id)
	}
	t.withdrawLocked(id)
	return nil
}

func (t *Transport) withdrawLocked(id segment.ID) {
	t.own.withdraw(id)
	if t.exposed[id].Bound() {
		t.owner.remove(id)
	}
	delete(t.exposed, id)
}

// Lose implements transport.Transport.
func (t *Transport) Lose(err *base.RankError) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.lostWhen[err.Rank] == nil {
		t.lostWhen[err.Rank] = err
	}
	if l := t.links[err.Rank]; l != nil {
		l.Lose(err)
	}
}

// Close implements transport.Transport.
func (t *Transport) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil
	}
	t.closed = true
	t.own.close()
	for id := range t.exposed {
		t.withdrawLocked(id)
	}
	if t.owner != nil {
		t.owner.close()
	}
	for _, l := range t.links {
		if l != nil {
			l.close()
		}
	}
	return sys.CloseFile(t.ownFile)
}
