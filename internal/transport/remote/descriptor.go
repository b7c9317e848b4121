package remote

import (
	"fmt"
	"sync/atomic"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/notify"
	"github.com/gaspi-go/gaspi-go/segment"
)

// A Descriptor describes a segment of a peer. The peer sends it on request.
type Descriptor struct {
	Generation    uint64
	Size          uint64 // bytes
	Notifications uint32
}

// Describe returns the descriptor of a segment of the peer behind a link, without a generation.
func Describe(l transport.Link, id segment.ID) (Descriptor, error) {
	size, notifications, err := l.Size(id)
	return Descriptor{Size: size, Notifications: notifications}, err
}

// Check returns an error unless the bytes [offset, offset+n) lie in the segment.
func (d *Descriptor) Check(offset, n uint64) error {
	if offset > d.Size || n > d.Size-offset {
		return fmt.Errorf("%w: bytes [%d:+%d] of %d", base.ErrOutOfRange, offset, n, d.Size)
	}
	return nil
}

// CheckWord returns an error unless a 64-bit word lies at offset.
func (d *Descriptor) CheckWord(offset uint64) error {
	if err := d.Check(offset, 8); err != nil {
		return err
	}
	if offset%8 != 0 {
		return fmt.Errorf("%w: byte %d; a 64-bit atomic needs a multiple of 8", base.ErrUnaligned, offset)
	}
	return nil
}

// CheckFlag returns an error unless the notification can be posted in the segment.
func (d *Descriptor) CheckFlag(f transport.Flag) error {
	if f.Value == 0 {
		return base.ErrZeroValue
	}
	if uint32(f.ID) >= d.Notifications {
		return fmt.Errorf("%w: id %d, but the segment has %d", base.ErrNoNotification, f.ID, d.Notifications)
	}
	return nil
}

// PackFlag returns the id and the value of f as one word: id in the low half, value
// in the high half.
func PackFlag(f transport.Flag) uint64 { return uint64(f.ID) | uint64(f.Value)<<32 }

// UnpackFlag is the inverse of PackFlag. The segment of the result is not set.
func UnpackFlag(word uint64, add bool) transport.Flag {
	return transport.Flag{ID: notify.ID(word), Value: notify.Value(word >> 32), Add: add}
}

// Descriptors are the known descriptors of one peer's segments. D is Descriptor, or a
// type of the transport that contains it. The index is the segment id.
type Descriptors[D any] []atomic.Pointer[D]

// Get returns the descriptor of segment id, or nil if it is not known.
func (t Descriptors[D]) Get(id segment.ID) *D {
	if uint64(id) < uint64(len(t)) {
		return t[id].Load()
	}
	return nil
}

// Check returns an error unless a peer can have a segment id.
func (t Descriptors[D]) Check(id segment.ID) error {
	if uint64(id) >= uint64(len(t)) {
		return badID(id, len(t))
	}
	return nil
}

// Set stores the descriptor of segment id. It reports whether there can be such a
// segment.
func (t Descriptors[D]) Set(id segment.ID, d *D) bool {
	if uint64(id) >= uint64(len(t)) {
		return false
	}
	t[id].Store(d)
	return true
}

// Drop removes d, the descriptor of segment id, unless another has replaced it.
func (t Descriptors[D]) Drop(id segment.ID, d *D) { t[id].CompareAndSwap(d, nil) }
