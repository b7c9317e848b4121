package transport

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/sys/cpu"
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

// On reports whether the window is on segment id of rank r, and usable. Holds and Takes are the other
// checks before an operation, apart from it so that the caller can take an entry of its queue between.
func (w *Window) On(r base.Rank, id segment.ID) bool { return w.peer == r && w.id == id && w.usable() }

func (w *Window) usable() bool { return w.Live.Load() == w.Generation && w.lost.Load() == nil }

// Holds reports whether the window has room for size bytes at offset.
func (w *Window) Holds(offset, size uint64) bool {
	room := uint64(len(w.mem))
	return offset <= room && size <= room-offset
}

// Takes reports whether the segment has notification f and v may be posted.
func (w *Window) Takes(f notify.ID, v notify.Value) bool { return v != 0 && uint32(f) < w.array.Len() }

// Put copies src to offset in the window, which holds it: the usual case of Link.Put.
func (w *Window) Put(offset uint64, src segment.Span) {
	segment.Copy(w.mem[offset:], src.Bytes())
	// A mapping ends with its Segment, which the bytes do not keep alive.
	runtime.KeepAlive(w)
	runtime.KeepAlive(src)
}

// Get fills dst from offset in the window, which holds it: the usual case of Link.Get.
func (w *Window) Get(dst segment.Span, offset uint64) {
	bytes := dst.Bytes()
	segment.Copy(bytes, w.mem[offset:][:len(bytes)])
	runtime.KeepAlive(w)
	runtime.KeepAlive(dst)
}

// PutRelease is Put and then stores a notification with release order: with WakeSleepers, which comes after
// it, the usual case of Link.PutNotify. The latency of small messages is decided here and in its caller.
// Between the two the caller executes an atomic read-modify-write, such as its count of the operation, which
// orders the notification before the look for sleepers. That holds the caller up until all its stores have
// reached the cache. Where Fenced reports true it is spared: waiters fence, since somebody called
// AskForFences.
func (w *Window) PutRelease(offset uint64, src segment.Span, f notify.ID, v notify.Value) {
	if bytes := src.Bytes(); len(bytes) <= notify.ShortCopy {
		w.array.CopyRelease(w.mem[offset:], bytes, f, v)
	} else {
		w.array.Prefetch(f)
		segment.Copy(w.mem[offset:], bytes)
		w.array.StoreRelease(f, v)
	}
	runtime.KeepAlive(w)
	runtime.KeepAlive(src)
}

// PutLine is PutRelease of a line of data at offset, of which the window holds notify.LineSize bytes: it stores v behind
// the data too, before it stores the notification.
func (w *Window) PutLine(offset uint64, src []byte, f notify.ID, v notify.Value) {
	w.array.PostLine(w.mem[offset:], src, f, v)
	runtime.KeepAlive(w)
}

// Fenced reports whether WakeSleepers needs no barrier before it.
func (w *Window) Fenced() bool { return w.array.Fenced() }

// WakeSleepers wakes those that sleep on the segment.
func (w *Window) WakeSleepers() {
	w.array.WakeSleepers()
	runtime.KeepAlive(w)
}

// Post posts a notification: the usual case of Link.Notify. posted counts it, by the addition that orders it
// before the look for sleepers. Where nobody else counts, and Fenced reports true, it needs none.
func (w *Window) Post(f notify.ID, v notify.Value, posted *atomic.Uint64, alone bool) {
	w.array.StoreRelease(f, v)
	if alone && w.Fenced() {
		cpu.StoreRelease64(posted, posted.Load()+1)
	} else {
		posted.Add(1)
	}
	w.array.WakeSleepers()
	runtime.KeepAlive(w)
}

// AskForFences makes posts cheaper whose caller counts alone, and sleeps on the segment dearer.
func (w *Window) AskForFences() { w.array.AskForFences() }

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

// target is the window on the segment of a, which holds n bytes there.
func (d *Direct) target(a Addr, n uint64) (*Window, error) {
	w, err := d.Window(a.Segment)
	if err == nil && !w.Holds(a.Offset, n) {
		_, err = w.Segment.Bytes(a.Offset, n)
	}
	return w, err
}

// flags is the window on the segment of f, where it may be posted.
func (d *Direct) flags(f Flag) (*Window, error) {
	w, err := d.Window(f.Segment)
	if err == nil {
		err = w.array.Check(f.ID, f.Value)
	}
	return w, err
}

// Put implements Link.
func (d *Direct) Put(_ *Queue, dst Addr, src segment.Span) error {
	w, err := d.target(dst, src.Len())
	if err != nil {
		return err
	}
	w.Put(dst.Offset, src)
	return nil
}

// PutNotify implements Link.
func (d *Direct) PutNotify(_ *Queue, dst Addr, src segment.Span, f Flag) error {
	w, err := d.target(dst, src.Len())
	if err != nil {
		return err
	}
	flags, err := d.flags(f)
	if err != nil {
		return err
	}
	w.Put(dst.Offset, src)
	f.Post(flags.array)
	runtime.KeepAlive(flags)
	return nil
}

// Notify implements Link. Earlier puts are complete, so there is nothing to
// wait for; the store is a release.
func (d *Direct) Notify(_ *Queue, f Flag) error {
	w, err := d.flags(f)
	if err != nil {
		return err
	}
	f.Post(w.array)
	runtime.KeepAlive(w)
	return nil
}

// Get implements Link.
func (d *Direct) Get(_ *Queue, dst segment.Span, src Addr) error {
	w, err := d.target(src, dst.Len())
	if err != nil {
		return err
	}
	w.Get(dst, src.Offset)
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
	w, err := d.Window(at.Segment)
	if err != nil {
		return 0, err
	}
	word, err := w.Segment.Word(at.Offset)
	if err != nil {
		return 0, err
	}
	old := Apply(word, op, operand, compare)
	runtime.KeepAlive(w)
	return old, nil
}

// Size implements Link.
func (d *Direct) Size(id segment.ID) (uint64, uint32, error) {
	w, err := d.Window(id)
	if err != nil {
		return 0, 0, err
	}
	return w.Segment.Size(), w.array.Len(), nil
}

// Mapped implements Link.
func (d *Direct) Mapped(at Addr, n uint64) (segment.Span, bool) {
	w, err := d.Window(at.Segment)
	if err != nil {
		return segment.Span{}, false
	}
	span, err := w.Segment.Span(at.Offset, n)
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
