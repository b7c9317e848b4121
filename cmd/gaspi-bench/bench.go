package main

import (
	"context"
	"slices"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/report"
	"github.com/gaspi-go/gaspi-go/gaspi"
)

// A bench is one rank of a measurement.
type bench struct {
	opts      *options
	p         *gaspi.Proc
	transport string
	pause     func() // between two looks at a bare flag
	seg       *gaspi.Segment
	together  bool              // all ranks share memory, which most limits need
	keep      []gaspi.Span      // mappings that flags lie in
	out       *report.Printer    // nil but on rank 0
	tries     int               // operations that were checked, which number them
	punctual  gaspi.Punctuality // of the emulated network, if there is one
}

// Layout of the segment of each rank. Each area of flags begins at a page, so
// that none shares a cache line with another.
//
//	| bare flags of pairs | bare flags to count | bare flags from each rank | inbox | outbox |
//
// Collective operations have boxes in place of the inbox, and their own vectors.
const (
	page        = 4096
	pairFlags   = 0 * page
	windowFlags = 1 * page // window x 4 bytes
	rankFlags   = 2 * page // a word per rank
)

func (b *bench) inbox() uint64 {
	return rankFlags + roundUp(uint64(4*b.p.Size()), page)
}

func (b *bench) outbox() uint64 { return b.inbox() + b.boxBytes() }

// boxBytes is the size of the inbox, and of the outbox if there is one.
func (b *bench) boxBytes() uint64 {
	if b.opts.collective != nil {
		return roundUp(uint64(boxAreas*b.p.Size())*boxSize, page)
	}
	return roundUp(slices.Max(b.opts.sizes), page) * b.opts.op.object.boxes(uint64(b.p.Size()))
}

func roundUp(n, to uint64) uint64 { return (n + to - 1) / to * to }

// Notifications, one for each purpose.
const (
	notePing  gaspi.NotificationID = 0
	noteAck   gaspi.NotificationID = 64  // in another cache line
	noteCount gaspi.NotificationID = 128 // window of them
	notePort  gaspi.NotificationID = 256
	noteRelay gaspi.NotificationID = 320 // a rank's number of them
)

// segmentID is the one segment of a bench.
const segmentID gaspi.SegmentID = 0

// measureAll is what every rank does. cores is how many the ranks share.
func measureAll(ctx context.Context, p *gaspi.Proc, o *options, cores int, out *report.Printer) error {
	transport, err := transportsOf(p)
	if err != nil {
		return err
	}
	b := &bench{opts: o, p: p, transport: transport, pause: pauser(p.Size(), cores, transport), out: out}
	size := b.outbox() + b.boxBytes()
	if b.seg, err = p.CreateSegment(ctx, segmentID, size); err != nil {
		return err
	}
	if b.together, err = b.sharing(ctx); err != nil {
		return err
	}
	if o.op.tune {
		if err := b.tuneRank(ctx, cores); err != nil {
			return err
		}
		return p.Barrier(ctx, p.World())
	}
	for _, bytes := range o.sizes {
		b.out.Doing(o.op.name, bytes)
		loads, err := o.op.prepare(ctx, b, bytes)
		if err != nil {
			return err
		}
		for _, w := range loads {
			rows, err := b.rows(ctx, w)
			if err != nil {
				return err
			}
			if err := b.out.Show(rows); err != nil {
				return err
			}
		}
	}
	if err := b.out.Punctual(p, b.punctual); err != nil {
		return err
	}
	// A rank that leaves early would end the waits of the others.
	if err := p.Barrier(ctx, p.World()); err != nil {
		return err
	}
	return nil
}

// sharing reports whether all ranks share memory, the same on all of them.
func (b *bench) sharing(ctx context.Context) (bool, error) {
	all := []int32{1}
	for r := range gaspi.Rank(b.p.Size()) {
		if _, ok := b.seg.Mapped(r, 0, 1); !ok {
			all[0] = 0
		}
	}
	err := gaspi.AllReduce(ctx, b.p.World(), all, all, gaspi.Min)
	return all[0] == 1, err
}

// rows are the rows of a workload, which is opened and closed if it wants that.
func (b *bench) rows(ctx context.Context, w workload) ([]report.Row, error) {
	if w.run != nil {
		return w.run(ctx)
	}
	if w.open == nil {
		return b.measure(ctx, w)
	}
	release, err := w.open(ctx, &w)
	if err != nil {
		return nil, err
	}
	rows, err := b.measure(ctx, w)
	if err != nil {
		return nil, err
	}
	return rows, release(ctx)
}

// peer is the other one of ranks 0 and 1, and whether this rank is one of them.
func (b *bench) peer() (gaspi.Rank, bool) {
	return 1 - b.p.Rank(), b.p.Rank() < 2
}

// idle is the batch of a rank that has no part in a workload.
func idle(int) error { return nil }
