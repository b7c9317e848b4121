package gaspi

import (
	"context"
	"fmt"

	"github.com/gaspi-go/gaspi-go/internal/transport"
)

// The atomics act on the 64-bit word at an address, whose offset must be a
// multiple of 8, and return its old value. They block until it is known, use no
// queue, and are atomic against each other whichever ranks issue them, the owner
// of the word and the caller's own rank included. Each is applied once or, if it
// returns an error, not at all; but one at a rank of another host whose context has
// ended may still be applied, once, and the same call again goes on with it. Min and
// max compare unsigned numbers.

// FetchAdd adds v, wrapping around.
func (p *Proc) FetchAdd(ctx context.Context, at Remote, v uint64) (old uint64, err error) {
	return p.atomic(ctx, at, transport.FetchAdd, v, 0)
}

// CompareSwap stores v if the word is compare; it did so if old equals compare.
func (p *Proc) CompareSwap(ctx context.Context, at Remote, compare, v uint64) (old uint64, err error) {
	return p.atomic(ctx, at, transport.CompareSwap, v, compare)
}

// Swap stores v.
func (p *Proc) Swap(ctx context.Context, at Remote, v uint64) (old uint64, err error) {
	return p.atomic(ctx, at, transport.Swap, v, 0)
}

// FetchMin stores v if it is less than the word.
func (p *Proc) FetchMin(ctx context.Context, at Remote, v uint64) (old uint64, err error) {
	return p.atomic(ctx, at, transport.FetchMin, v, 0)
}

// FetchMax stores v if it is greater than the word.
func (p *Proc) FetchMax(ctx context.Context, at Remote, v uint64) (old uint64, err error) {
	return p.atomic(ctx, at, transport.FetchMax, v, 0)
}

// FetchAnd stores the bits that are set in both the word and v.
func (p *Proc) FetchAnd(ctx context.Context, at Remote, v uint64) (old uint64, err error) {
	return p.atomic(ctx, at, transport.FetchAnd, v, 0)
}

// FetchOr stores the bits that are set in the word or v.
func (p *Proc) FetchOr(ctx context.Context, at Remote, v uint64) (old uint64, err error) {
	return p.atomic(ctx, at, transport.FetchOr, v, 0)
}

// FetchXor stores the bits that differ between the word and v.
func (p *Proc) FetchXor(ctx context.Context, at Remote, v uint64) (old uint64, err error) {
	return p.atomic(ctx, at, transport.FetchXor, v, 0)
}

func (p *Proc) atomic(ctx context.Context, at Remote, op transport.AtomicOp, operand, compare uint64) (uint64, error) {
	old, err := p.tryAtomic(ctx, at, op, operand, compare)
	if err != nil {
		return 0, transferError(op.String(), at, 8, p.faultIn(at.Rank, err))
	}
	p.stats.atomics.Add(1)
	return old, nil
}

func (p *Proc) tryAtomic(ctx context.Context, at Remote, op transport.AtomicOp, operand, compare uint64) (uint64, error) {
	if p.closed.Load() {
		return 0, ErrClosed
	}
	if at.Offset%8 != 0 {
		return 0, fmt.Errorf("%w: offset %d", ErrUnaligned, at.Offset)
	}
	way, err := p.reach(at)
	if err != nil {
		return 0, err
	}
	return way.Atomic(ctx, at.addr(), op, operand, compare)
}
