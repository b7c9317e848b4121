package object

import (
	"cmp"
	"context"
	"fmt"
	"math/bits"
	"slices"
	"time"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/measure"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/report"
	"github.com/gaspi-go/gaspi-go/gaspi/emulation"
	"github.com/gaspi-go/gaspi-go/internal/sys"
	"github.com/gaspi-go/gaspi-go/internal/sys/thread"
)

// An objectWay is one way to do an operation with objects. All ranks call its functions
// in step.
type objectWay struct {
	impl, algorithm string
	timed           bool // this rank's clock counts
	arrives         bool // ranks join one after the other
	// fill makes new content, before makes ready for an operation, once does it and is
	// timed, check compares what came of it, and after clears up.
	fill   func(number int)
	before func(context.Context) error
	once   func(context.Context) error
	check  func() error
	after  func(context.Context) error
	// release gives back what it uses; nil if that is nothing.
	release func(context.Context) error
}

// A meter times operations with objects.
type meter struct {
	b       *bench
	alarm   *thread.Alarm
	oneHost bool // the clock is that of all ranks
	// late is how punctual the emulated network was while operations were timed. Work of the
	// ranks between operations, all at once, does not count: on hosts of their own nothing
	// would wait for it.
	late emulation.Punctuality
}

// measureObject measures ways in turns and returns a row for each, the same on all ranks.
func (b *bench) measureObject(ctx context.Context, w measure.Workload, ways []objectWay) ([]report.Row, error) {
	if len(ways) == 0 {
		return nil, nil
	}
	alarm, err := thread.NewAlarm()
	if err != nil {
		return nil, err
	}
	defer alarm.Close()
	_, emulated := b.P.Emulation().Network()
	m := &meter{b: b, alarm: alarm, oneHost: emulated || b.P.LocalSize() == b.P.Size()}
	first := make([]time.Duration, len(ways)) // which warms up, unless it takes too long to be made again
	for i := range ways {
		if first[i], err = m.try(ctx, &ways[i], true); err != nil {
			return nil, err
		}
	}
	if err := b.Slowest(ctx, first); err != nil {
		return nil, err
	}
	times := make([][]time.Duration, len(ways))
	if count := operationsFor(b.Rules.Time, slices.Max(first)); count == 0 {
		for i := range ways {
			times[i] = first[i : i+1]
		}
	} else if err := m.turns(ctx, ways, times, count); err != nil {
		return nil, err
	}
	var rows []report.Row
	for i := range ways {
		if err := b.Slowest(ctx, times[i]); err != nil {
			return nil, err
		}
		count := len(times[i])
		r := report.NewRow(w.Subject, ways[i].impl, report.Summarize(times[i], 1), count)
		r.Algorithm, r.Transport, r.N = ways[i].algorithm, b.Transport, b.P.Size()
		rows = append(rows, r)
	}
	b.stampLinks(rows)
	b.Kind.nameChains(rows)
	return rows, b.StampPunctual(ctx, rows, m.late)
}

// operationsFor is how many operations of that length to measure in so much time; 0 if one
// takes longer than enough of them were to take.
func operationsFor(time, one time.Duration) int {
	one = max(one, 1)
	return int(min(max(time/one, min(measure.MinBlocks, measure.MinBlocks*time/one)), measure.MaxBlocks))
}

// turns times count operations of each way.
func (m *meter) turns(ctx context.Context, ways []objectWay, times [][]time.Duration, count int) error {
	m.late = emulation.Punctuality{} // what came before does not count
	for n := range count {
		for i := range ways {
			took, err := m.try(ctx, &ways[i], m.b.Rules.Verify || n == count-1)
			if err != nil {
				return err
			}
			times[i] = append(times[i], took)
		}
	}
	return nil
}

// try does an operation and returns how long it took since the last rank has joined, 0
// where this rank's clock does not count.
func (m *meter) try(ctx context.Context, w *objectWay, checked bool) (time.Duration, error) {
	if checked {
		m.b.Tries++
		w.fill(m.b.Tries)
	}
	if err := w.before(ctx); err != nil {
		return 0, err
	}
	last, err := m.begin(ctx, w.arrives)
	if err != nil {
		return 0, err
	}
	m.b.P.Emulation().Restart()
	if err := w.once(ctx); err != nil {
		return 0, fmt.Errorf("%s: %w", w.impl, err)
	}
	end, err := sys.Monotonic()
	if err != nil {
		return 0, err
	}
	m.late = m.late.Merge(m.b.P.Emulation().Restart())
	// Nothing is checked or deleted while others still work.
	if err := m.b.P.Barrier(ctx, m.b.P.World()); err != nil {
		return 0, err
	}
	if checked {
		if err := w.check(); err != nil {
			return 0, fmt.Errorf("%s: %w", w.impl, err)
		}
	}
	if err := w.after(ctx); err != nil {
		return 0, err
	}
	if !w.timed {
		return 0, nil
	}
	return max(0, time.Duration(end-last)), nil
}

// begin returns when it is this rank's turn to join, and says when the last one joins.
func (m *meter) begin(ctx context.Context, arrives bool) (last int64, err error) {
	first := int64(0)
	if m.oneHost {
		first, err = m.b.Instant(ctx)
	} else {
		if err = m.b.P.Barrier(ctx, m.b.P.World()); err == nil {
			first, err = sys.Monotonic()
		}
	}
	if err != nil {
		return 0, err
	}
	own := first
	last = first
	if arrives {
		own += int64(m.b.Options.Interval) * int64(m.b.P.Rank())
		last += int64(m.b.Options.Interval) * int64(m.b.P.Size()-1)
	}
	if err := m.alarm.Set(own); err != nil {
		return 0, err
	}
	m.alarm.Wait()
	return last, nil
}

// stampLinks says in rows how long the operation takes on links alone.
func (b *bench) stampLinks(rows []report.Row) {
	network, emulated := b.P.Emulation().Network()
	if !emulated || network.Bandwidth == 0 {
		return
	}
	for i := range rows {
		transfer := float64(rows[i].Bytes) / network.Bandwidth
		least := b.Kind.model(b.P.Size(), transfer, network.Latency.Seconds(), b.Options.Arrive)
		rows[i].LinksUS, rows[i].LinksBy = report.Round(least.seconds*1e6), least.formula
	}
}

// nameChains calls the bare writes along a chain of more than two ranks a chain, and no limit,
// where something else is faster: a tree for short objects, by what was measured.
func (k Pattern) nameChains(rows []report.Row) {
	if k.pair() || k == Gather {
		return
	}
	for i := range rows {
		chain := &rows[i]
		if chain.Impl == report.ImplLimit && chain.N > 2 &&
			slices.ContainsFunc(rows, func(r report.Row) bool { return r.Bytes == chain.Bytes && r.P50US < chain.P50US }) {
			chain.Impl = report.ImplChain
		}
	}
}

// A linkTime is how long an operation takes on links alone, in seconds, and the formula.
type linkTime struct {
	seconds float64
	formula string
}

// model returns the least of the times that an operation takes on links alone, where an object
// takes transfer and a message latency, by the ways that there are: along a chain, in pieces of
// no length; by a tree or by doubling, whole; and from one rank to each other.
func (k Pattern) model(n int, transfer, latency float64, arrive bool) linkTime {
	hops, rounds := float64(n-1), float64(bits.Len(uint(n-1)))
	switch {
	case k == RoundTrip:
		return linkTime{2 * (transfer + latency), "2 (S/B + L)"}
	case k.directory():
		return linkTime{2 * latency, "2 L"}
	case k == Gather:
		return linkTime{hops*transfer + latency, "(n-1) S/B + L"}
	case k == AllReduce:
		doubling := linkTime{rounds * (transfer + latency), "log2(n) (S/B + L)"}
		if n&(n-1) != 0 { // the ranks beyond a power of two give and get everything
			doubling = linkTime{(rounds + 1) * (transfer + latency), "(log2(n) + 2) (S/B + L), log2 rounded down"}
		}
		return least(linkTime{2*hops/float64(n)*transfer + 2*hops*latency, "2 (n-1)/n S/B + 2 (n-1) L"}, doubling)
	case arrive:
		return linkTime{transfer + latency, "S/B + L"}
	}
	return least(
		linkTime{transfer + hops*latency, "S/B + (n-1) L"},
		linkTime{rounds * (transfer + latency), "log2(n) (S/B + L)"},
		linkTime{hops*transfer + latency, "(n-1) S/B + L"},
	)
}

// least returns the shortest of times, the first of equals.
func least(times ...linkTime) linkTime {
	return slices.MinFunc(times, func(a, b linkTime) int { return cmp.Compare(a.seconds, b.seconds) })
}
