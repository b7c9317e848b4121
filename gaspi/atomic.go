package gaspi

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/trace"
	"github.com/gaspi-go/gaspi-go/internal/transport"
)

// The atomics act on the 64-bit word at an address, whose offset must be a
// multiple of 8, and return its old value. They block until it is known, use no
// queue, and are atomic against each other whichever ranks issue them, the owner
// of the word and the caller's own rank included. Min and max compare unsigned
// numbers.
//
// Every call is an operation of its own, which is applied at most once and never by
// another call. Its context bounds reaching the rank. An operation that is on its way
// cannot be taken back: the call waits for its answer and returns that also if the
// context has ended meanwhile, for at most a second more. So a call whose context has
// ended before is carried out all the same at a rank that is connected. An error says:
//
//   - the error of the context: the operation was not applied and never will be. The one
//     exception is an *InDoubtError, found with errors.As: the rank did not answer in
//     that second, because it is stopped or cut off. InDoubtError.Wait returns the outcome
//     of that very operation as soon as it is known;
//   - a *RankError: the rank is gone, and its memory with it;
//   - ErrClosed, where Close was called meanwhile: it is not known;
//   - any other error: it was not applied.
//
// The segment is the one that exists when the rank does the operation: one that was
// deleted meanwhile refuses it with ErrNoSegment.

// An InDoubtError is an atomic whose rank has not answered. It wraps the error of the
// context that ended.
type InDoubtError = base.InDoubtError

// FetchAdd adds v to the word at at, wrapping around, and returns the old value. It
// blocks until the rank has answered, also if ctx ends meanwhile, for at most a second
// more. After an error of ctx it was not applied and never will be, unless the error is
// an *InDoubtError. Calling it again adds again.
func (p *Proc) FetchAdd(ctx context.Context, at Remote, v uint64) (old uint64, err error) {
	return p.atomic(ctx, at, transport.FetchAdd, v, 0)
}

// CompareSwap stores v in the word at at if that is compare, and returns the old value:
// it stored v if old equals compare. It blocks and fails as FetchAdd does; calling it
// again compares again.
func (p *Proc) CompareSwap(ctx context.Context, at Remote, compare, v uint64) (old uint64, err error) {
	return p.atomic(ctx, at, transport.CompareSwap, v, compare)
}

// Swap stores v in the word at at and returns the old value. It blocks and fails as
// FetchAdd does; calling it again stores again.
func (p *Proc) Swap(ctx context.Context, at Remote, v uint64) (old uint64, err error) {
	return p.atomic(ctx, at, transport.Swap, v, 0)
}

// FetchMin stores v in the word at at if v is less, as unsigned numbers, and returns the
// old value. It blocks and fails as FetchAdd does.
func (p *Proc) FetchMin(ctx context.Context, at Remote, v uint64) (old uint64, err error) {
	return p.atomic(ctx, at, transport.FetchMin, v, 0)
}

// FetchMax stores v in the word at at if v is greater, as unsigned numbers, and returns
// the old value. It blocks and fails as FetchAdd does.
func (p *Proc) FetchMax(ctx context.Context, at Remote, v uint64) (old uint64, err error) {
	return p.atomic(ctx, at, transport.FetchMax, v, 0)
}

// FetchAnd stores the bits that are set in both the word at at and v, and returns the old
// value. It blocks and fails as FetchAdd does.
func (p *Proc) FetchAnd(ctx context.Context, at Remote, v uint64) (old uint64, err error) {
	return p.atomic(ctx, at, transport.FetchAnd, v, 0)
}

// FetchOr stores the bits that are set in the word at at or v, and returns the old value.
// It blocks and fails as FetchAdd does.
func (p *Proc) FetchOr(ctx context.Context, at Remote, v uint64) (old uint64, err error) {
	return p.atomic(ctx, at, transport.FetchOr, v, 0)
}

// FetchXor stores the bits that differ between the word at at and v, and returns the old
// value. It blocks and fails as FetchAdd does; calling it again undoes it.
func (p *Proc) FetchXor(ctx context.Context, at Remote, v uint64) (old uint64, err error) {
	return p.atomic(ctx, at, transport.FetchXor, v, 0)
}

func (p *Proc) atomic(ctx context.Context, at Remote, op transport.AtomicOp, operand, compare uint64) (uint64, error) {
	old, err := p.tryAtomic(ctx, at, op, operand, compare)
	if err != nil {
		return 0, p.atomicError(at, op, err)
	}
	p.stats.peers.at(at.Rank).atomics.Add(1)
	return old, nil
}

// atomicError says where err happened. Wait says the same of the
// outcome of an operation in doubt.
func (p *Proc) atomicError(at Remote, op transport.AtomicOp, err error) error {
	if doubt, is := errors.AsType[*InDoubtError](err); is {
		done := sync.OnceFunc(func() { p.stats.peers.at(at.Rank).atomics.Add(1) })
		err = base.InDoubt(doubt.Unwrap(), func(ctx context.Context) (uint64, error) {
			old, err := doubt.Wait(ctx)
			if err != nil {
				return 0, p.atomicError(at, op, err)
			}
			done()
			return old, nil
		})
	}
	return transferError(op.String(), at, 8, p.peers.Found(at.Rank, err))
}

func (p *Proc) tryAtomic(ctx context.Context, at Remote, op transport.AtomicOp, operand, compare uint64) (uint64, error) {
	if p.closed.Load() {
		return 0, ErrClosed
	}
	if at.Offset%8 != 0 {
		return 0, fmt.Errorf("%w: offset %d; a 64-bit atomic needs a multiple of 8 bytes", ErrUnaligned, at.Offset)
	}
	way, err := p.reach(at)
	if err != nil {
		return 0, err
	}
	begun := p.timeline.Begin()
	old, err := way.Atomic(ctx, at.addr(), op, operand, compare)
	if p.timeline != nil {
		p.recordCall(trace.Atomic, begun, at.Rank)
	}
	return old, err
}

// carriedOut is an atomic of the runtime's own on link. ctx bounds reaching the rank
// alone: what is on its way ends with its answer, with the rank, or with Close.
func carriedOut(ctx context.Context, link transport.Link, at transport.Addr, op transport.AtomicOp, operand, compare uint64) (uint64, error) {
	old, err := link.Atomic(ctx, at, op, operand, compare)
	if doubt, is := errors.AsType[*InDoubtError](err); is {
		return doubt.Wait(context.WithoutCancel(ctx))
	}
	return old, err
}

// whileAttached is carriedOut, but ends with ErrLauncherLost when this rank loses the
// launcher, and with it the job: whether the operation was applied is then not known.
func (p *Proc) whileAttached(ctx context.Context, link transport.Link, at transport.Addr, op transport.AtomicOp, operand, compare uint64) (uint64, error) {
	both, cancel := transport.WithEnd(ctx, p.attached)
	defer cancel()
	old, err := link.Atomic(both, at, op, operand, compare)
	if doubt, is := errors.AsType[*InDoubtError](err); is {
		old, err = doubt.Wait(p.attached)
	}
	if isTimeLimit(err) && p.attached.Err() != nil {
		err = p.loss.Load()
	}
	return old, err
}
