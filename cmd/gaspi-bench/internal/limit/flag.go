package limit

import (
	"context"
	"runtime"
	"sync/atomic"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/sys/cpu"
	"github.com/gaspi-go/gaspi-go/internal/sys/thread"
	"github.com/gaspi-go/gaspi-go/segment"
)

// This file is what limits are made of: words in a segment that a peer maps,
// stored and looked at with the processor's atomics, and nothing else.

// A Flag is a 32-bit word in somebody's segment, as notifications are.
type Flag = *uint32

// Flags are count consecutive words, from byte offset, of rank r's segment, in
// the mapping that this rank's writes to r go through.
func (b *Memory) Flags(r gaspi.Rank, offset uint64, count int) ([]uint32, error) {
	span, err := b.Map(b.Seg, r, offset, uint64(4*count))
	if err != nil {
		return nil, err
	}
	return segment.View[uint32](span.Segment(), span.Offset(), count)
}

// Raise stores v: a release, and like the runtime's own a full fence.
func Raise(f Flag, v uint32) { atomic.StoreUint32(f, v) }

// looksPerCheck is how often a flag is looked at before check is called, which costs more than a look: for about as
// long as waits of the runtime spin.
const looksPerCheck = 1 << 12

// check is called by waits that last long. It lets others run, because the rank that is waited for may have no core beside
// other programs, and returns why the job has ended.
func check(ctx context.Context) error {
	thread.Yield()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// checkAt is check at one of looksPerCheck looks.
func checkAt(ctx context.Context, looks int) error {
	if looks%looksPerCheck != 0 {
		return nil
	}
	return check(ctx)
}

// Await looks at f until it is v. Between two looks it pauses, or gives up the
// core if others need it.
func (b *Memory) Await(ctx context.Context, f Flag, v uint32) error {
	for {
		for range looksPerCheck {
			if atomic.LoadUint32(f) == v {
				return nil
			}
			b.pause()
		}
		if err := check(ctx); err != nil {
			return err
		}
	}
}

// awaitFrom is await for a flag that may already show the number after v, if
// whoever raises it is one ahead.
func (b *Memory) awaitFrom(ctx context.Context, f Flag, v uint32) error {
	for {
		for range looksPerCheck {
			if int32(atomic.LoadUint32(f)-v) >= 0 {
				return nil
			}
			b.pause()
		}
		if err := check(ctx); err != nil {
			return err
		}
	}
}

// pauser is what a bare wait does between two looks: the processor's PAUSE where
// each rank has a core, which is faster than looking without, else the cheapest
// way to let another rank run.
func pauser(ranks, cores int, transport string) func() {
	switch {
	case ranks <= cores:
		return cpu.Relax
	case transport == "loopback":
		return runtime.Gosched
	default:
		return thread.Yield
	}
}

// A Counter gives every operation a value, never 0, that its neighbours do not
// have.
type Counter struct{ n uint64 }

// Next returns the value of the next operation.
func (c *Counter) Next() uint32 {
	c.n++
	return c.Last()
}

// Last is what next returned last.
func (c *Counter) Last() uint32 { return uint32(c.n%(1<<32-1)) + 1 }
