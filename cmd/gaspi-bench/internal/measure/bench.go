package measure

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/limit"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/report"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/gaspi/emulation"
)

// A Bench is one rank of a measurement.
type Bench struct {
	*limit.Memory
	Rules     Rules
	Transport string
	Together  bool                  // all ranks share memory, which most limits need
	Out       *report.Printer       // nil but on rank 0
	Tries     int                   // operations that were checked, which number them
	Punctual  emulation.Punctuality // of the emulated network, if there is one
}

// A Rules says how workloads are measured.
type Rules struct {
	Time   time.Duration // for one row
	Verify bool          // every result is checked
	Side   string        // of which contender rows are measured; empty for all
}

// New makes a bench without memory of its own, for what only calls the library.
func New(p *gaspi.Proc, cfg Rules, out *report.Printer) (*Bench, error) {
	transport, err := Transports(p)
	return &Bench{Memory: limit.OnlyCalls(p), Rules: cfg, Transport: transport, Out: out}, err
}

// Open makes a bench whose inbox and outbox have so many bytes. All ranks call it.
// cores is how many the ranks share.
func Open(ctx context.Context, p *gaspi.Proc, cfg Rules, boxes uint64, cores int, out *report.Printer) (*Bench, error) {
	b, err := New(p, cfg, out)
	if err != nil {
		return nil, err
	}
	if b.Memory, err = limit.Open(ctx, p, boxes, b.Transport, cores); err != nil {
		return nil, err
	}
	b.Together, err = b.sharing(ctx)
	return b, err
}

// All measures the workloads of an operation for all sizes. All ranks call it.
func (b *Bench) All(ctx context.Context, op *Benchmark, sizes []uint64) error {
	for _, bytes := range sizes {
		b.Out.Doing(op.Name, bytes)
		loads, err := op.Prepare(ctx, b, bytes)
		if err != nil {
			return err
		}
		for _, w := range loads {
			rows, err := b.rows(ctx, w)
			if err != nil {
				return err
			}
			if err := b.Out.Show(rows); err != nil {
				return err
			}
		}
	}
	return b.Leave(ctx)
}

// Leave says whether the host carried the emulated network, and waits for all ranks: one
// that left early would end the waits of the others.
func (b *Bench) Leave(ctx context.Context) error {
	if err := b.Out.Punctual(b.P, b.Punctual); err != nil {
		return err
	}
	return b.P.Barrier(ctx, b.P.World())
}

// sharing reports whether all ranks share memory, the same on all of them.
func (b *Bench) sharing(ctx context.Context) (bool, error) {
	all := []int32{1}
	for r := range gaspi.Rank(b.P.Size()) {
		if _, ok := b.Seg.Mapped(r, 0, 1); !ok {
			all[0] = 0
		}
	}
	err := gaspi.AllReduce(ctx, b.P.World(), all, all, gaspi.Min)
	return all[0] == 1, err
}

// rows are the rows of a workload, which is opened and closed if it wants that.
func (b *Bench) rows(ctx context.Context, w Workload) ([]report.Row, error) {
	if w.Run != nil {
		return w.Run(ctx)
	}
	if w.Open == nil {
		return b.Measure(ctx, w)
	}
	release, err := w.Open(ctx, &w)
	if err != nil {
		return nil, err
	}
	rows, err := b.Measure(ctx, w)
	if err != nil {
		return nil, err
	}
	return rows, release(ctx)
}

// Peer is the other one of ranks 0 and 1, and whether this rank is one of them.
func (b *Bench) Peer() (gaspi.Rank, bool) {
	return 1 - b.P.Rank(), b.P.Rank() < 2
}

// Idle is the batch of a rank that has no part in a workload.
func Idle(int) error { return nil }

// Transports names what connects this rank with the others, such as "shm+tcp".
func Transports(p *gaspi.Proc) (string, error) {
	var names []string
	for r := range gaspi.Rank(p.Size()) {
		name, err := p.Transport(r)
		if err != nil {
			return "", err
		}
		if r != p.Rank() || p.Size() == 1 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), "+"), nil
}

// Nearby reports whether ranks 0 and 1 share memory, the same on all ranks.
func (b *Bench) Nearby(ctx context.Context, peer gaspi.Rank, part bool) (bool, error) {
	shared := []int32{0}
	if _, ok := b.Seg.Mapped(peer, 0, 1); part && ok {
		shared[0] = 1
	}
	err := gaspi.AllReduce(ctx, b.P.World(), shared, shared, gaspi.Max)
	return shared[0] == 1, err
}
