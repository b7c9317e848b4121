package shm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/sys"
	"github.com/gaspi-go/gaspi-go/internal/sys/memory"
	"github.com/gaspi-go/gaspi-go/internal/sys/process"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/segment"
)

// peerLink is the link to one rank of this host, which may be this rank itself.
type peerLink struct {
	*transport.Direct
	t    *Transport
	rank base.Rank

	found atomic.Pointer[address]       // nil until the peer was first used
	lane  atomic.Pointer[requestClient] // nil until a bound segment is used, then kept; stored under mu

	mu    sync.Mutex
	card  *card               // guarded by mu; mapped on first use, then kept for ever, because windows point into it
	pid   int                 // guarded by mu; pidfd of the peer, -1 until known
	bound map[segment.ID]*far // guarded by mu; bound segments that were used, perhaps withdrawn since
}

func newPeerLink(t *Transport, r base.Rank) *peerLink {
	l := &peerLink{t: t, rank: r, pid: -1, bound: make(map[segment.ID]*far)}
	l.Direct = transport.NewDirect(r, t.ids, l.open, l.alive)
	return l
}

// open finds segment id of the peer and maps it. For a bound segment, which
// nobody can map, the error is the *far that reaches it.
func (l *peerLink) open(id segment.ID) (*transport.Window, error) {
	if uint64(id) >= uint64(l.t.ids) {
		return nil, noSegment(l.rank, id, l.t.rank)
	}
	if l.rank == l.t.rank {
		return l.t.openOwn(id)
	}
	card, err := l.cardOfPeer()
	if err != nil {
		return nil, err
	}
	for {
		at := card.read(id, l.t.rank)
		if at.generation == 0 || !at.granted {
			if card.closed() {
				return nil, transport.ErrorOfLeaver(l.rank)
			}
			return nil, noSegment(l.rank, id, l.t.rank)
		}
		if at.bound {
			f, err := l.openBound(card, id, at)
			if f != nil {
				return nil, f
			}
			if err != nil {
				return nil, err
			}
			continue
		}
		l.mu.Lock()
		fd, err := l.openFileLocked(card, id, at, at.descriptor)
		l.mu.Unlock()
		if err != nil {
			return nil, err
		}
		if fd < 0 {
			continue
		}
		seg, err := segment.Open(fd, at.size, at.notifications)
		if err != nil {
			return nil, fmt.Errorf("segment %d of rank %d: %w", id, l.rank, err)
		}
		return &transport.Window{Segment: seg, Live: card.live(id), Generation: at.generation}, nil
	}
}

// openFileLocked opens a descriptor of the peer that belongs to segment id as the card
// showed it. It returns -1 and no error when the card has changed since.
func (l *peerLink) openFileLocked(card *card, id segment.ID, at listing, descriptor int) (int, error) {
	peer, err := l.peer()
	if err != nil {
		return -1, err
	}
	fd, err := memory.OpenPeer(peer.PID, descriptor)
	if card.live(id).Load() != at.generation {
		// Withdrawn while we looked, perhaps with the descriptor given to
		// another file since: what we opened may be anything.
		if err == nil {
			sys.CloseFile(fd)
		}
		return -1, nil
	}
	if err != nil {
		return -1, l.orEndedLocked(fmt.Errorf("segment %d of rank %d: %w", id, l.rank, err))
	}
	return fd, nil
}

// openOwn is open for this rank's own segments, which need no mapping.
func (t *Transport) openOwn(id segment.ID) (*transport.Window, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	seg := t.exposed[id]
	at := t.own.read(id, t.rank)
	if seg == nil || !at.granted {
		return nil, noSegment(t.rank, id, t.rank)
	}
	return &transport.Window{Segment: seg, Live: t.own.live(id), Generation: at.generation}, nil
}

func noSegment(owner base.Rank, id segment.ID, reader base.Rank) error {
	return fmt.Errorf("%w: rank %d has not registered a segment %d with rank %d", base.ErrNoSegment, owner, id, reader)
}

// peer is where the peer is. Asking for it may block, until the peer has joined.
func (l *peerLink) peer() (address, error) {
	if at := l.found.Load(); at != nil {
		return *at, nil
	}
	text, err := l.t.find(context.Background(), l.rank)
	if err != nil {
		return address{}, err
	}
	var at address
	if err := json.Unmarshal([]byte(text), &at); err != nil {
		return address{}, fmt.Errorf("shared memory address of rank %d: %w", l.rank, err)
	}
	l.found.Store(&at)
	return at, nil
}

func (l *peerLink) cardOfPeer() (*card, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.card != nil {
		return l.card, nil
	}
	peer, err := l.peer()
	if err != nil {
		return nil, err
	}
	card, err := openCard(peer.PID, peer.Card, l.t.size, l.t.ids)
	if err != nil {
		return nil, l.orEndedLocked(fmt.Errorf("rank %d: %w", l.rank, err))
	}
	l.card = card
	return card, nil
}

// Lose makes every operation, those under way included, end with err. It needs no lock: who holds
// it may wait for the end of the peer.
func (l *peerLink) Lose(err *base.RankError) {
	l.Direct.Lose(err)
	if lane := l.lane.Load(); lane != nil {
		lane.wake()
	}
}

// alive is the ping: it asks the kernel whether the peer's process has ended.
func (l *peerLink) alive(ctx context.Context) error {
	if l.rank == l.t.rank {
		return ctx.Err()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.endedLocked(0); err != nil {
		return err
	}
	return ctx.Err()
}

// dyingLimit is how long a process that was killed may take from giving up its
// files, after which nothing of it can be opened, to its end. It has to give up
// its memory in between.
const dyingLimit = 2 * time.Second

// orEndedLocked is err, unless the reason of it is that the peer's process has ended:
// its files are gone before anybody says so. In the /proc of another PID namespace they
// never were.
func (l *peerLink) orEndedLocked(err error) error {
	limit := dyingLimit
	if !sys.OwnProc() {
		limit = 0
	}
	if ended, ok := errors.AsType[*base.RankError](l.endedLocked(limit)); ok {
		return ended
	}
	return err
}

// endedLocked is the end of the peer's process, nil if it has not ended within
// the limit, or why that is not known. The first question takes
// a hold of the process, so that its number cannot come to mean another one later.
func (l *peerLink) endedLocked(limit time.Duration) error {
	if l.pid < 0 {
		peer, err := l.peer()
		if err != nil {
			return err
		}
		pid, err := process.Hold(peer.PID)
		if errors.Is(err, os.ErrProcessDone) {
			return &base.RankError{Rank: l.rank, Reason: "its process has ended"}
		}
		if err != nil {
			return fmt.Errorf("whether the process of rank %d has ended: %w", l.rank, err)
		}
		l.pid = pid
	}
	if process.AwaitEnd(l.pid, limit) {
		return &base.RankError{Rank: l.rank, Reason: "its process has ended"}
	}
	return nil
}

func (l *peerLink) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pid >= 0 {
		sys.CloseFile(l.pid)
		l.pid = -1
	}
	if lane := l.lane.Load(); lane != nil {
		lane.close()
	}
}
