package figure

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/report"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/subprocess"
)

// A Bench starts gaspi-bench in rounds.
type Bench struct {
	subprocess.Runner
	Rounds int // how often each row is measured, at most
	// Doing, if not nil, hears what is measured next.
	Doing func(what string)
	// Done, if not nil, hears that nothing is measured any more.
	Done func()
}

// ownRows runs gaspi-bench with arguments and returns the rows of the runtime.
func (b *Bench) ownRows(ctx context.Context, args ...string) ([]report.Row, error) {
	all, err := b.Rows(ctx, args...)
	return slices.DeleteFunc(all, func(r report.Row) bool { return r.Impl != report.ImplGaspi }), err
}

// measure runs a sweep on this machine, by turns: each round has all lines, so that
// they meet the machine in the same moods. It ends after the last round, or with what
// it has when no whole round fits before end or ctx ends.
func (s *Sweep) measure(ctx context.Context, b *Bench, way Setting, end time.Time) (*SweepTimes, error) {
	g := s.Grids[way]
	t := NewTimes(way, g, s.setting(way))
	all := make(map[Point][]float64)
	var longest time.Duration
	for round := range max(b.Rounds, 1) {
		began := time.Now()
		if round > 0 && began.Add(longest).After(end) {
			break
		}
		for _, ranks := range g.Ranks {
			for _, line := range s.in(way) {
				if b.Doing != nil {
					b.Doing(fmt.Sprintf("%s of %d ranks, %s, round %d", line.Name, ranks, way, round+1))
				}
				rows, err := b.ownRows(ctx, s.arguments(line, ranks, way)...)
				if ctx.Err() != nil && len(all) > 0 {
					t.Cut = cutBy(ctx)
					return t.settle(all), nil
				}
				if err != nil {
					return nil, err
				}
				if err := t.note(all, line, ranks, rows); err != nil {
					return nil, err
				}
			}
		}
		longest = max(longest, time.Since(began))
	}
	return t.settle(all), nil
}

// settle sets the times of what was measured.
func (t *SweepTimes) settle(all map[Point][]float64) *SweepTimes {
	for p, seconds := range all {
		middle := report.Median(seconds)
		t.Set(p, Timing{Seconds: middle, Low: seconds[0], High: seconds[len(seconds)-1], Invalid: t.invalid[p]})
	}
	t.doubt(len(all))
	return t
}

// doubt says of how many times the emulated network was not carried, if there are any.
func (t *SweepTimes) doubt(all int) {
	if len(t.invalid) > 0 {
		t.Doubt = fmt.Sprintf("this host could not carry the emulated network in %d of %d times; at worst %.0f %% of the messages were late",
			len(t.invalid), all, 100*t.latest)
	}
}

// note takes the rows of a line in. They come in the order of the grid's lengths,
// though their own may differ by what is rounded to whole elements.
func (t *SweepTimes) note(all map[Point][]float64, line Line, ranks int, rows []report.Row) error {
	if len(rows) != len(t.Grid.Bytes) {
		return fmt.Errorf("gaspi-bench wrote %d rows for %d lengths", len(rows), len(t.Grid.Bytes))
	}
	for i, x := range rows {
		p := Point{line.Name, ranks, t.Grid.Bytes[i]}
		all[p] = append(all[p], x.P50US*1e-6)
		if x.Invalid {
			t.invalid[p], t.latest = true, max(t.latest, x.LateShare)
		}
	}
	return nil
}

// arguments returns the command line of gaspi-bench for a line of the figure.
func (s *Sweep) arguments(line Line, ranks int, way Setting) []string {
	g := s.Grids[way]
	var sizes []string
	for _, n := range g.Bytes {
		sizes = append(sizes, strconv.Itoa(n))
	}
	args := []string{s.Op.String(), "-n", strconv.Itoa(ranks), "--sizes", strings.Join(sizes, ","), "--algorithm", line.Algorithm}
	add := func(flag string, wanted bool, value string) {
		if wanted {
			args = append(args, flag, value)
		}
	}
	// The library would cut whole vectors into segments where that is faster.
	add("--segments", line.Algorithm != auto, strconv.Itoa(max(line.Segments, 1)))
	add("--segment-size", line.SegmentBytes > 0, strconv.Itoa(line.SegmentBytes/max(g.Scale, 1)))
	add("--threshold", line.Threshold > 0, fmt.Sprint(line.Threshold))
	add("--processes", line.Processes > 0, fmt.Sprint(line.Processes))
	switch {
	case line.NoOp:
		args = append(args, "--no-op")
	case s.Op.Reduces() && way == Emulated:
		add("--fold-rate", g.FoldRate > 0, strconv.Itoa(g.FoldRate))
	}
	if way == Emulated {
		args = append(args, "--emulate", g.Link)
	} else {
		args = append(args, "--transport", "shm")
	}
	return args
}

// setting says what was measured where.
func (s *Sweep) setting(way Setting) string {
	g := s.Grids[way]
	text := "ranks are processes that share memory"
	if way == Emulated {
		text = "each rank behind a link of " + g.Link
	}
	if way == Emulated && g.FoldRate > 0 && s.Op.Reduces() {
		text += fmt.Sprintf(", a rank folds %.3g MB/s", float64(g.FoldRate)*1e-6)
	}
	if g.Scale > 1 {
		text += fmt.Sprintf(", segments of a fixed size are shorter by %d", g.Scale)
	}
	return text
}
