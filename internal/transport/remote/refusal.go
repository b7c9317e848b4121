package remote

import (
	"errors"
	"fmt"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/segment"
)

// A Refusal says why a peer did not carry out a request (negative acknowledgement).
// The numbers are on the wire of tcp and of rdma.
type Refusal uint8

// The refusals. tcp has no RefusedRange: there, a request that leaves the segment ends
// the connection.
const (
	RefusedSegment   Refusal = iota + 1 // no segment of that generation for this rank
	RefusedUnaligned                    // the memory of the segment does not suit 64-bit words
	RefusedRange                        // the request leaves the segment, or has an unknown operation
)

// Error returns the error of a request of rank reader that rank owner refused.
func (why Refusal) Error(owner base.Rank, id segment.ID, reader base.Rank) error {
	switch why {
	case RefusedUnaligned:
		return fmt.Errorf("%w: the memory of segment %d of rank %d does not start at a multiple of 8 bytes, as a 64-bit atomic needs", base.ErrUnaligned, id, owner)
	case RefusedRange:
		return fmt.Errorf("%w: an atomic with segment %d of rank %d", base.ErrOutOfRange, id, owner)
	default:
		return NotRegistered(owner, id, reader)
	}
}

// NotRegistered returns the error of an operation of rank reader on a segment to which
// rank owner gives it no access.
func NotRegistered(owner base.Rank, id segment.ID, reader base.Rank) error {
	return fmt.Errorf("%w: rank %d has not registered a segment %d with rank %d", base.ErrNoSegment, owner, id, reader)
}

// Atomic applies op to the 64-bit word at offset and returns the old value. It returns
// a refusal other than 0 if it did not apply it.
func (x *Region[T]) Atomic(op transport.AtomicOp, offset, operand, compare uint64) (old uint64, why Refusal) {
	word, err := x.Segment.Word(offset)
	switch {
	case errors.Is(err, base.ErrUnaligned):
		return 0, RefusedUnaligned
	case err != nil || op > transport.FetchXor:
		return 0, RefusedRange
	}
	return transport.Apply(word, op, operand, compare), 0
}
