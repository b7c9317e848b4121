package distfft

import (
	"context"
	"fmt"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/segment"
)

// Real is what the parts of numbers may be.
type Real interface{ float32 | float64 }

// Number is what a grid may consist of.
type Number interface {
	float32 | float64 | complex64 | complex128
}

// Complex is what a transform may consist of.
type Complex interface{ complex64 | complex128 }

// A Config says what to transform, and how. All ranks use the same.
type Config struct {
	// Grid is the size of a band in points.
	Grid Grid
	// P and Q are the grid of ranks; their product is the number of ranks. Q = 1
	// cuts the grid into slabs. RankGrid finds numbers for pencils.
	P, Q int
	// Depth is how many bands are in each exchange while others are computed, up to 64.
	// 0, the default, exchanges and computes in turns. With too few, latency shows; each
	// takes memory, of a band twice for slabs and eight times for pencils.
	Depth int
	// AllToAll forces an algorithm of collectives.AllToAll by name. Empty leaves the
	// choice to its model.
	AllToAll string
}

// A Plan transforms grids of In to grids of Out and back. It is for one goroutine
// at a time. Its calls are collective: all ranks of its group make the same ones in
// the same order.
type Plan[In Number, Out Complex] struct {
	core   core
	layout distribution
	rank   int
	failed error
}

// core is an engine, whatever its precision.
type core interface {
	transform(ctx context.Context, bands int, inverse bool, buffers func(band int) (dst, src []byte)) error
	exchange(ctx context.Context) error
	spent() *Times
	close() error
}

// Times says where a rank's time went.
type Times struct {
	// Local is the time in transforms of lines, from where they are to where they belong.
	Local time.Duration
	// Pack is the time for turning lines along z into lanes of a tile, and back.
	Pack time.Duration
	// Exchange is the time in calls that start exchanges and let them go on, which
	// copy where ranks share memory.
	Exchange time.Duration
	// Wait is the time in calls that block until an exchange has ended.
	Wait time.Duration
}

// New prepares transforms over the members of group, which is committed. In and Out
// are complex64 or complex128 both, or float32 and complex64, or float64 and
// complex128. It is collective, blocks, and takes a queue and some segments of the
// runtime until Close. It refuses ranks that the grid has no points for.
func New[In Number, Out Complex](ctx context.Context, group *gaspi.Group, cfg Config) (*Plan[In, Out], error) {
	rank, member := group.Rank()
	if !member {
		return nil, fmt.Errorf("%w: rank %d is not in the group", gaspi.ErrBadRank, group.Proc().Rank())
	}
	isReal, err := realInput[In, Out]()
	if err != nil {
		return nil, err
	}
	if err := cfg.check(group.Size(), isReal); err != nil {
		return nil, err
	}
	p := &Plan[In, Out]{layout: newLayout(cfg, isReal), rank: rank}
	switch any(*new(Out)).(type) {
	case complex64:
		p.core, err = newEngine[float32](ctx, group, cfg, isReal)
	default:
		p.core, err = newEngine[float64](ctx, group, cfg, isReal)
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// realInput reports whether In is real, and refuses an Out of another precision.
func realInput[In Number, Out Complex]() (bool, error) {
	_, single := any(*new(Out)).(complex64)
	wrong := false
	isReal := false
	switch any(*new(In)).(type) {
	case float32:
		isReal, wrong = true, !single
	case float64:
		isReal, wrong = true, single
	case complex64:
		wrong = !single
	case complex128:
		wrong = single
	}
	if wrong {
		return false, fmt.Errorf("a plan from %T to %T mixes precisions; choose complex64 with float32 or complex64, complex128 with float64 or complex128",
			*new(In), *new(Out))
	}
	return isReal, nil
}

// Input is the box that this rank has before Forward, in points of type In.
func (p *Plan[In, Out]) Input() Box { return p.layout.input(p.rank) }

// Output is the box that this rank has after Forward, in points of type Out.
func (p *Plan[In, Out]) Output() Box { return p.layout.output(p.rank) }

// Forward transforms one grid: src is this rank's box of the input, dst that of the
// output. It blocks. dst and src are any memory, and may begin at the same place;
// src is left as it is otherwise.
func (p *Plan[In, Out]) Forward(ctx context.Context, dst []Out, src []In) error {
	return p.ForwardBands(ctx, [][]Out{dst}, [][]In{src})
}

// Inverse undoes Forward.
func (p *Plan[In, Out]) Inverse(ctx context.Context, dst []In, src []Out) error {
	return p.InverseBands(ctx, [][]In{dst}, [][]Out{src})
}

// ForwardBands is Forward of any number of grids, the same one on all ranks. While
// Config.Depth of them are exchanged, the next one is computed. Different bands
// share no memory.
func (p *Plan[In, Out]) ForwardBands(ctx context.Context, dst [][]Out, src [][]In) error {
	if err := check(dst, src, p.Output(), p.Input()); err != nil {
		return err
	}
	return p.run(ctx, len(dst), false, func(i int) ([]byte, []byte) { return segment.BytesOf(dst[i]), segment.BytesOf(src[i]) })
}

// InverseBands is Inverse of any number of grids; see ForwardBands.
func (p *Plan[In, Out]) InverseBands(ctx context.Context, dst [][]In, src [][]Out) error {
	if err := check(dst, src, p.Input(), p.Output()); err != nil {
		return err
	}
	return p.run(ctx, len(dst), true, func(i int) ([]byte, []byte) { return segment.BytesOf(dst[i]), segment.BytesOf(src[i]) })
}

// check reports whether buffers have the right sizes.
func check[D, S any](dst [][]D, src [][]S, dstBox, srcBox Box) error {
	if len(dst) != len(src) {
		return fmt.Errorf("%d bands to read and %d to write; give as many of both", len(src), len(dst))
	}
	for i := range dst {
		if len(src[i]) != srcBox.Count() || len(dst[i]) != dstBox.Count() {
			return fmt.Errorf("band %d has %d points to read and %d to write; on this rank a grid has %d and %d",
				i, len(src[i]), len(dst[i]), srcBox.Count(), dstBox.Count())
		}
	}
	return nil
}

// guard does something unless an earlier call failed: then exchanges may be under way.
func (p *Plan[In, Out]) guard(f func() error) error {
	if p.failed != nil {
		return fmt.Errorf("this plan can only be closed, because an earlier call ended with: %w", p.failed)
	}
	p.failed = f()
	return p.failed
}

// run transforms bands.
func (p *Plan[In, Out]) run(ctx context.Context, bands int, inverse bool, buffers func(int) (dst, src []byte)) error {
	return p.guard(func() error { return p.core.transform(ctx, bands, inverse, buffers) })
}

// Exchange makes the exchanges of one band and computes nothing: how long they take
// is what overlap can hide. It blocks.
func (p *Plan[In, Out]) Exchange(ctx context.Context) error {
	return p.guard(func() error { return p.core.exchange(ctx) })
}

// Times says where this rank's time went since New or the last call of Times, in all
// transforms together.
func (p *Plan[In, Out]) Times() Times {
	t := p.core.spent()
	spent := *t
	*t = Times{}
	return spent
}

// Close gives memory and queues back. It is local: make sure, by a barrier for
// instance, that all ranks have finished their last transform.
func (p *Plan[In, Out]) Close() error {
	if p.failed == nil {
		p.failed = gaspi.ErrClosed
	}
	return p.core.close()
}
