package remote

import (
	"sync"
	"sync/atomic"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/transport"
)

// A Peer is the state of one other rank: present, lost, or left. MarkLost and MarkLeft
// are called with a lock of the transport held; the other methods need none.
type Peer struct {
	Rank base.Rank

	closed   *atomic.Bool // the transport of this rank has been closed
	lost     atomic.Pointer[base.RankError]
	reported bool // lost was reported by the failure detector, and not seen by the transport
}

// Init makes p the state of rank r. closed says that this rank's transport was closed.
func (p *Peer) Init(r base.Rank, closed *atomic.Bool) { p.Rank, p.closed = r, closed }

// Err returns why no operation can reach the peer any more, or nil.
func (p *Peer) Err() error {
	if p.closed.Load() {
		return base.ErrClosed
	}
	if err := p.lost.Load(); err != nil {
		return err
	}
	return nil
}

// Lost returns why the peer is gone, or nil.
func (p *Peer) Lost() *base.RankError { return p.lost.Load() }

// MarkLost makes err the reason why the peer is gone, and returns the reason that
// holds. reported says that err comes from the failure detector: the first such error
// replaces one that the transport has seen itself; otherwise the first error holds.
// seen, if not nil, is called before that with the first error that the transport has
// seen, unless the transport was closed.
func (p *Peer) MarkLost(err *base.RankError, reported bool, seen func(*base.RankError)) *base.RankError {
	first := p.lost.Load() == nil
	if first && !reported && seen != nil && !p.closed.Load() {
		seen(err)
	}
	if first || reported && !p.reported {
		p.lost.Store(err)
		p.reported = reported
	}
	return p.lost.Load()
}

// MarkLeft records that the peer has closed its transport. It returns the reason why
// the peer is gone, and whether that is news.
func (p *Peer) MarkLeft() (why *base.RankError, news bool) {
	news = p.lost.CompareAndSwap(nil, transport.ErrorOfLeaver(p.Rank))
	return p.lost.Load(), news
}

// A LinkTable holds the links of one rank to all others, by rank. A link is made on first use.
// All methods but Init are safe for concurrent use.
type LinkTable[L any] struct {
	slots []atomic.Pointer[L]
	mu    sync.Mutex // held while a link is made
	link  func(base.Rank) *L
}

// Init makes t empty, for size ranks. link makes the link to a rank.
func (t *LinkTable[L]) Init(size int, link func(base.Rank) *L) {
	t.slots, t.link = make([]atomic.Pointer[L], size), link
}

// To returns the link to rank r and makes it if need be.
func (t *LinkTable[L]) To(r base.Rank) *L {
	if l := t.slots[r].Load(); l != nil {
		return l
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if l := t.slots[r].Load(); l != nil {
		return l
	}
	l := t.link(r)
	t.slots[r].Store(l)
	return l
}

// Get returns the link to rank r, or nil if it was never used.
func (t *LinkTable[L]) Get(r base.Rank) *L { return t.slots[r].Load() }

// Each calls do with every link that exists.
func (t *LinkTable[L]) Each(do func(*L)) {
	for i := range t.slots {
		if l := t.slots[i].Load(); l != nil {
			do(l)
		}
	}
}
