package shm

import (
	"context"
	"fmt"
	"runtime"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/notify"
	"github.com/gaspi-go/gaspi-go/segment"
)

// A far is a peer's bound segment as this rank reaches it: its array is mapped,
// its bytes are moved by the owner.
//
// It is an error too, so that it can travel through transport.Direct, whose open
// returns it for a segment that cannot be addressed: the operations on memory
// that is mapped, which are nearly all, then pay nothing for this kind.
type far struct {
	lane       *requestClient
	id         segment.ID
	flags      *segment.Segment // of its data nothing is used
	size       uint64
	generation uint64
}

// Error says what the segment is; no caller of the transport ever sees it.
func (f *far) Error() string { return fmt.Sprintf("segment %d is reached through its owner", f.id) }

// openBound is open for the bound segment that the card shows at. It returns
// neither a segment nor an error when the card has changed since.
func (l *peerLink) openBound(card *card, id segment.ID, at listing) (*far, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if f := l.bound[id]; f != nil && f.generation == at.generation {
		return f, nil
	}
	if l.lane.Load() == nil {
		fd, err := l.openFileLocked(card, id, at, card.lanes())
		if fd < 0 || err != nil {
			return nil, err
		}
		size, words := laneSize(l.t.size)
		file, err := segment.Open(fd, size, words)
		if err != nil {
			return nil, fmt.Errorf("requests to rank %d: %w", l.rank, err)
		}
		l.lane.Store(newLane(l, file))
	}
	fd, err := l.openFileLocked(card, id, at, at.descriptor)
	if fd < 0 || err != nil {
		return nil, err
	}
	flags, err := segment.Open(fd, segment.BoundFileSize, at.notifications)
	if err != nil {
		return nil, fmt.Errorf("segment %d of rank %d: %w", id, l.rank, err)
	}
	f := &far{lane: l.lane.Load(), id: id, flags: flags, size: at.size, generation: at.generation}
	l.bound[id] = f
	return f, nil
}

// Put implements transport.Link.
func (l *peerLink) Put(q *transport.Queue, dst transport.Addr, src segment.Span) error {
	err := l.Direct.Put(q, dst, src)
	if f, ok := err.(*far); ok {
		return f.transfer(opPut, dst.Offset, src.Bytes())
	}
	return err
}

// PutNotify implements transport.Link. The bytes are in the owner's memory when
// the owner has replied, so this side can post the flag itself.
func (l *peerLink) PutNotify(q *transport.Queue, dst transport.Addr, src segment.Span, flag transport.Flag) error {
	err := l.Direct.PutNotify(q, dst, src, flag)
	if f, ok := err.(*far); ok {
		return l.putNotifyFar(f, q, dst, src, flag)
	}
	return err
}

// putNotifyFar is PutNotify where f, the segment of the bytes or that of the flag
// or both, is bound.
func (l *peerLink) putNotifyFar(f *far, q *transport.Queue, dst transport.Addr, src segment.Span, flag transport.Flag) error {
	flags := f.flags
	if flag.Segment != f.id {
		// Nearly all flags are in the segment of the bytes. For another, mapping
		// it anew is slow and right.
		w, err := l.open(flag.Segment)
		if other, ok := err.(*far); ok {
			flags = other.flags
		} else if err != nil {
			return err
		} else {
			flags = w.Segment
		}
	}
	if err := flags.Notifications().Check(flag.ID, flag.Value); err != nil {
		return err
	}
	var err error
	if dst.Segment == f.id {
		err = f.transfer(opPut, dst.Offset, src.Bytes())
	} else {
		err = l.Direct.Put(q, dst, src)
	}
	if err != nil {
		return err
	}
	flag.Post(flags.Notifications())
	runtime.KeepAlive(flags)
	return nil
}

// Notify implements transport.Link.
func (l *peerLink) Notify(q *transport.Queue, flag transport.Flag) error {
	err := l.Direct.Notify(q, flag)
	f, ok := err.(*far)
	if !ok {
		return err
	}
	if err := f.flags.Notifications().Check(flag.ID, flag.Value); err != nil {
		return err
	}
	flag.Post(f.flags.Notifications())
	runtime.KeepAlive(f)
	return nil
}

// Generation implements transport.LateLink.
func (l *peerLink) Generation(_ *transport.Queue, id segment.ID) (uint64, error) {
	w, err := l.Window(id)
	if f, ok := err.(*far); ok {
		return f.generation, nil
	}
	if err != nil {
		return 0, err
	}
	return w.Generation, nil
}

// NotifyLate implements transport.LateLink.
func (l *peerLink) NotifyLate(q *transport.Queue, flag transport.Flag, generation uint64) error {
	w, err := l.Window(flag.Segment)
	f, bound := err.(*far)
	switch {
	case bound && f.generation == generation:
		flag.Post(f.flags.Notifications())
		runtime.KeepAlive(f)
		return nil
	case err == nil && w.Generation == generation:
		flag.Post(w.Segment.Notifications())
		runtime.KeepAlive(w)
		return nil
	case err == nil || bound:
		return transport.ErrorOfWithdrawn(l.rank, flag.Segment)
	}
	return err
}

var _ transport.LateLink = (*peerLink)(nil)

// Get implements transport.Link.
func (l *peerLink) Get(q *transport.Queue, dst segment.Span, src transport.Addr) error {
	err := l.Direct.Get(q, dst, src)
	if f, ok := err.(*far); ok {
		return f.transfer(opGet, src.Offset, dst.Bytes())
	}
	return err
}

// GetNotify implements transport.Link.
func (l *peerLink) GetNotify(q *transport.Queue, dst segment.Span, src transport.Addr, b *notify.Array, flag transport.Flag) error {
	err := l.Direct.GetNotify(q, dst, src, b, flag)
	f, ok := err.(*far)
	if !ok {
		return err
	}
	if err := f.transfer(opGet, src.Offset, dst.Bytes()); err != nil {
		return err
	}
	flag.Post(b)
	return nil
}

// Atomic implements transport.Link. The owner uses the processor's own atomics,
// as it does for its own operations on that word. A request that the owner has not begun
// when the time is over is taken back.
func (l *peerLink) Atomic(ctx context.Context, at transport.Addr, op transport.AtomicOp, operand, compare uint64) (uint64, error) {
	old, err := l.Direct.Atomic(ctx, at, op, operand, compare)
	if f, ok := err.(*far); ok {
		return f.atomic(ctx, at.Offset, op, operand, compare)
	}
	return old, err
}

// Size implements transport.Link.
func (l *peerLink) Size(id segment.ID) (uint64, uint32, error) {
	bytes, notifications, err := l.Direct.Size(id)
	if f, ok := err.(*far); ok {
		return f.size, f.flags.Notifications().Len(), nil
	}
	return bytes, notifications, err
}

// check returns an error unless [offset, offset+n) lies in the segment. The owner
// checks it again; here it keeps a transfer of several requests from ending in
// the middle.
func (f *far) check(offset, n uint64) error {
	if offset > f.size || n > f.size-offset {
		return fmt.Errorf("%w: bytes [%d:+%d] of %d", base.ErrOutOfRange, offset, n, f.size)
	}
	return nil
}

func (f *far) atomic(ctx context.Context, offset uint64, op transport.AtomicOp, operand, compare uint64) (uint64, error) {
	if err := f.check(offset, 8); err != nil {
		return 0, err
	}
	r := f.request(opAtomic+opcode(op), offset)
	r.operand, r.compare = operand, compare
	return f.lane.atomic(ctx, f, r)
}

func (f *far) request(op opcode, offset uint64) memoryRequest {
	return memoryRequest{op: op, segment: f.id, generation: f.generation, offset: offset}
}

// transfer puts local to offset of the segment, or gets it from there, in
// requests of at most bounceBytes. With a second station free, one request is
// filled or emptied here while the owner works on another. Between two requests
// stations go back, so that a long transfer does not hold up short ones; nobody
// who holds a station waits for another, so none waits for ever.
//
// A transfer that a withdrawal meets in its middle ends with base.ErrNoSegment
// and may have written a part while that was allowed.
func (f *far) transfer(op opcode, offset uint64, local []byte) error {
	if err := f.check(offset, uint64(len(local))); err != nil {
		return err
	}
	var flight [stationsPerPeer]*station // oldest first, from received%stationsPerPeer
	var failure error
	chunks := (len(local) + bounceBytes - 1) / bounceBytes
	sent, received := 0, 0
	for sent < chunks || received < sent {
		if sent < chunks {
			if s := f.lane.take(received == sent); s != nil {
				part := chunk(local, sent)
				r := f.request(op, offset+uint64(sent)*bounceBytes)
				r.length = uint64(len(part))
				if op == opPut {
					copy(s.bounce, part)
				}
				f.lane.send(s, r)
				flight[sent%stationsPerPeer] = s
				sent++
				continue
			}
		}
		s := flight[received%stationsPerPeer]
		if err := f.lane.receive(f, s); err != nil {
			failure = err
			chunks = sent
		} else if op == opGet {
			copy(chunk(local, received), s.bounce)
		}
		f.lane.free <- s
		received++
	}
	runtime.KeepAlive(f)
	return failure
}

// chunk is the part of local that request i moves.
func chunk(local []byte, i int) []byte {
	return local[i*bounceBytes : min((i+1)*bounceBytes, len(local))]
}
