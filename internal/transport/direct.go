package transport

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/tally"
	"github.com/gaspi-go/gaspi-go/notify"
	"github.com/gaspi-go/gaspi-go/segment"
)

// A Window is a peer's segment that this process can address. It is valid while
// *Live is Generation: the owner changes the word when it withdraws the segment.
type Window struct {
	Segment    *segment.Segment
	Live       *atomic.Uint64
	Generation uint64

	// Set by Direct: whose segment it is, whether that rank is gone, and what
	// Segment holds, where a put finds it without another hop.
	peer  base.Rank
	id    segment.ID
	lost  *atomic.Pointer[base.RankError]
	mem   []byte
	array *notify.Array
}

// Admits reports whether the window is on segment id of rank r, usable, and has
// room for size bytes at offset and for the notification. It is the check before
// Move, apart from it so that the caller can take an entry of its queue between.
func (w *Window) Admits(r base.Rank, id segment.ID, offset, size uint64, f notify.ID, v notify.Value) bool {
	room := uint64(len(w.mem))
	return w.peer == r && w.id == id && w.usable() &&
		offset <= room && size <= room-offset && w.array.Check(f, v) == nil
}

func (w *Window) usable() bool { return w.Live.Load() == w.Generation && w.lost.Load() == nil }

// Move copies src to offset in the window and posts the notification: the usual
// case of Link.PutNotify, for a caller that asked Admits. The latency of small
// messages is decided here and in its caller. moved counts the operation: that is also what orders
// the notification before the look for sleepers.
func (w *Window) Move(offset uint64, src segment.Span, f notify.ID, v notify.Value, moved *tally.Tally) {
	w.array.Prefetch(f)
	segment.Copy(w.mem[offset:], src.Bytes())
	w.array.StoreRelease(f, v)
	moved.Add(src.Len())
	w.array.WakeSleepers()
	// A mapping ends with its Segment, which the bytes do not keep alive.
	runtime.KeepAlive(w)
	runtime.KeepAlive(src)
}

// Direct is the link to a peer whose memory this process can address: the
// caller copies into the peer's memory and stores the flag, without the peer,
// without a system call unless somebody sleeps. Every operation is complete
// when it returns, so nothing is ever counted in a queue.
//
// Grade: hot. Between the caller and the peer's memory lie one table lookup and
// one look at the generation.
type Direct struct {
	peer    base.Rank
	ids     int
	windows []atomic.Pointer[windowPart] // index is the segment id by its length; nil until one of it is used
	open    func(id segment.ID) (*Window, error)
	ping    func(context.Context) error
	lost    atomic.Pointer[base.RankError]
}

// A windowPart is the windows of consecutive segment ids: most ids are never used, and a process
// may have many links.
type windowPart [64]atomic.Pointer[Window]

// NewDirect makes a link to rank peer for segment ids below ids. open finds the
// peer's segment when it is first used, or again after it was withdrawn; ping is
// Link's.
func NewDirect(peer base.Rank, ids int, open func(segment.ID) (*Window, error), ping func(context.Context) error) *Direct {
	parts := (ids + len(windowPart{}) - 1) / len(windowPart{})
	return &Direct{peer: peer, ids: ids, windows: make([]atomic.Pointer[windowPart], parts), open: open, ping: ping}
}

// Memory is d itself: what a link that can be addressed is told by, and how its
// user comes to Usable without a call through an interface.
func (d *Direct) Memory() *Direct { return d }

// Lose makes every later operation end with err.
func (d *Direct) Lose(err *base.RankError) { d.lost.CompareAndSwap(nil, err) }

// Lost returns why the peer is gone, or nil.
func (d *Direct) Lost() error {
	if err := d.lost.Load(); err != nil {
		return err
	}
	return nil
}

// Usable is the window on the peer's segment id if it is open and the peer is
// there, else nil.
func (d *Direct) Usable(id segment.ID) *Window {
	const length = segment.ID(len(windowPart{}))
	if uint64(id/length) < uint64(len(d.windows)) {
		if part := d.windows[id/length].Load(); part != nil {
			if w := part[id%length].Load(); w != nil && w.usable() {
				return w
			}
		}
	}
	return nil
}

// slot is where the window on segment id is kept, which is below ids.
func (d *Direct) slot(id segment.ID) *atomic.Pointer[Window] {
	const length = segment.ID(len(windowPart{}))
	at := &d.windows[id/length]
	if at.Load() == nil {
		at.CompareAndSwap(nil, new(windowPart))
	}
	return &at.Load()[id%length]
}

// Window returns the window on the peer's segment id, opened if need be. It stays mapped while
// it is reachable.
func (d *Direct) Window(id segment.ID) (*Window, error) {
	if w := d.Usable(id); w != nil {
		return w, nil
	}
	return d.openWindow(id)
}

// window is the peer's segment id, opened if need be.
func (d *Direct) window(id segment.ID) (*segment.Segment, error) {
	w, err := d.Window(id)
	if err != nil {
		return nil, err
	}
	return w.Segment, nil
}

func (d *Direct) openWindow(id segment.ID) (*Window, error) {
	if lost := d.Lost(); lost != nil {
		return nil, lost
	}
	if uint64(id) >= uint64(d.ids) {
		return nil, fmt.Errorf("%w: id %d; ids go from 0 to %d", base.ErrNoSegment, id, d.ids-1)
	}
	w, err := d.open(id)
	if err != nil {
		d.slot(id).Store(nil)
		return nil, err
	}
	w.peer, w.id, w.lost = d.peer, id, &d.lost
	w.mem, w.array = w.Segment.All().Bytes(), w.Segment.Notifications()
	d.slot(id).Store(w)
	return w, nil
}

// target is the peer's memory at a, for n bytes.
func (d *Direct) target(a Addr, n uint64) (*segment.Segment, []byte, error) {
	seg, err := d.window(a.Segment)
	if err != nil {
		return nil, nil, err
	}
	mem, err := seg.Bytes(a.Offset, n)
	return seg, mem, err
}

// Put implements Link.
func (d *Direct) Put(_ *Queue, dst Addr, src segment.Span) error {
	seg, mem, err := d.target(dst, src.Len())
	if err != nil {
		return err
	}
	segment.Copy(mem, src.Bytes())
	// A mapping ends with its Segment, which the bytes do not keep alive.
	runtime.KeepAlive(seg)
	runtime.KeepAlive(src)
	return nil
}

// PutNotify implements Link.
func (d *Direct) PutNotify(_ *Queue, dst Addr, src segment.Span, f Flag) error {
	seg, mem, err := d.target(dst, src.Len())
	if err != nil {
		return err
	}
	flags := seg
	if f.Segment != dst.Segment {
		if flags, err = d.window(f.Segment); err != nil {
			return err
		}
	}
	if err := flags.Notifications().Check(f.ID, f.Value); err != nil {
		return err
	}
	segment.Copy(mem, src.Bytes())
	f.Post(flags.Notifications())
	runtime.KeepAlive(seg)
	runtime.KeepAlive(flags)
	runtime.KeepAlive(src)
	return nil
}

// Notify implements Link. Earlier puts are complete, so there is nothing to
// wait for; the store is a release.
func (d *Direct) Notify(_ *Queue, f Flag) error {
	seg, err := d.window(f.Segment)
	if err != nil {
		return err
	}
	if err := seg.Notifications().Check(f.ID, f.Value); err != nil {
		return err
	}
	f.Post(seg.Notifications())
	runtime.KeepAlive(seg)
	return nil
}

// Get implements Link.
func (d *Direct) Get(_ *Queue, dst segment.Span, src Addr) error {
	seg, mem, err := d.target(src, dst.Len())
	if err != nil {
		return err
	}
	segment.Copy(dst.Bytes(), mem)
	runtime.KeepAlive(seg)
	runtime.KeepAlive(dst)
	return nil
}

// GetNotify implements Link. Earlier gets are complete.
func (d *Direct) GetNotify(q *Queue, dst segment.Span, src Addr, b *notify.Array, f Flag) error {
	if err := d.Get(q, dst, src); err != nil {
		return err
	}
	f.Post(b)
	return nil
}

// Atomic implements Link with the processor's own atomics, which are the same
// for the owner and all its local peers.
func (d *Direct) Atomic(_ context.Context, at Addr, op AtomicOp, operand, compare uint64) (uint64, error) {
	seg, err := d.window(at.Segment)
	if err != nil {
		return 0, err
	}
	word, err := seg.Word(at.Offset)
	if err != nil {
		return 0, err
	}
	old := Apply(word, op, operand, compare)
	runtime.KeepAlive(seg)
	return old, nil
}

// Size implements Link.
func (d *Direct) Size(id segment.ID) (uint64, uint32, error) {
	seg, err := d.window(id)
	if err != nil {
		return 0, 0, err
	}
	return seg.Size(), seg.Notifications().Len(), nil
}

// Mapped implements Link.
func (d *Direct) Mapped(at Addr, n uint64) (segment.Span, bool) {
	seg, err := d.window(at.Segment)
	if err != nil {
		return segment.Span{}, false
	}
	span, err := seg.Span(at.Offset, n)
	return span, err == nil
}

// Flush implements Link: what was issued has arrived, unless the peer is gone.
func (d *Direct) Flush(context.Context, *Queue) error {
	return d.Lost()
}

// Ping implements Link.
func (d *Direct) Ping(ctx context.Context) error {
	if lost := d.Lost(); lost != nil {
		return lost
	}
	return d.ping(ctx)
}
