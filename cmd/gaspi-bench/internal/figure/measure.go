package figure

import (
	"context"
	"errors"
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

// A turn is one start of gaspi-bench: the words that say on a terminal what it is, its
// arguments, and the function that takes the rows in which it ended.
type turn struct {
	doing string
	args  []string
	take  func(round int, rows []report.Row) error
}

// measure does turns in rounds: each round has all turns, so that they meet the machine in the
// same moods. A round begins only if one as long as the longest so far would end before end.
// Times are settled with what there is when ctx ends or a turn fails; measure fails if that is
// nothing.
func (t *SweepTimes) measure(ctx context.Context, b *Bench, end time.Time, turns []turn) error {
	defer t.settle()
	var longest time.Duration
	for round := range max(b.Rounds, 1) {
		began := time.Now()
		if round > 0 && began.Add(longest).After(end) {
			return nil
		}
		for i, j := range turns {
			if b.Doing != nil {
				b.Doing(fmt.Sprintf("%s, %s, round %d", j.doing, t.Way, round+1))
			}
			rows, err := b.Rows(ctx, j.args...)
			late := ctx.Err() != nil
			if late && errors.Is(err, ctx.Err()) {
				err = nil // the rows are those that were measured until then
			}
			if err == nil {
				err = j.take(round, rows)
			}
			switch {
			case late && len(t.rounds) > 0:
				t.Cut = cutBy(ctx) + t.rest(round, turns[i:])
				return nil
			case late:
				return ctx.Err()
			case err != nil && len(t.rounds) > 0:
				t.Cut = err.Error() + t.rest(round, turns[i:])
				return nil
			case err != nil:
				return err
			}
		}
		longest = max(longest, time.Since(began))
	}
	return nil
}

// rest says what is missing of a measurement that ended in a round, before these turns had ended.
func (t *SweepTimes) rest(round int, left []turn) string {
	if round > 0 {
		return fmt.Sprintf("; each time is of %d or %d rounds", round, round+1)
	}
	var names []string
	for _, j := range left[:min(len(left), mostLeft)] {
		names = append(names, j.doing)
	}
	if more := len(left) - mostLeft; more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return "; missing, in whole or in part: " + strings.Join(names, ", ")
}

// mostLeft is how many measurements that are missing have a name.
const mostLeft = 8

// settle sets the times of the points that were measured in rounds: medians, and the least
// and the most as their spread.
func (t *SweepTimes) settle() {
	for p, seconds := range t.rounds {
		middle := report.Median(seconds)
		t.Set(p, Timing{Seconds: middle, Low: seconds[0], High: seconds[len(seconds)-1], Invalid: t.invalid[p]})
	}
	if len(t.invalid) > 0 {
		t.Doubt = fmt.Sprintf("this host could not carry %s in %d of %d times", t.load(), len(t.invalid), len(t.rounds))
		if len(t.rounds) == 1 {
			t.Doubt = "this host could not carry " + t.load() + " in the only time that was measured"
		}
	}
	if t.latest > 0 {
		t.Doubt += fmt.Sprintf("; at worst %.0f %% of the messages were late", 100*t.latest)
	}
}

// load says what a host may be unable to carry in a way.
func (t *SweepTimes) load() string {
	if t.Way == Raw {
		return fmt.Sprintf("more ranks than its %d cores", t.cores)
	}
	return "the emulated network"
}

// note takes a row of a point in.
func (t *SweepTimes) note(p Point, round int, x *report.Row) {
	if t.rounds == nil {
		t.rounds = make(map[Point][]float64)
	}
	t.rounds[p] = append(t.rounds[p], x.P50US*1e-6)
	over := t.Way == Raw && t.cores > 0 && p.Ranks > t.cores
	if x.Invalid || over {
		t.invalid[p], t.latest = true, max(t.latest, x.LateShare)
	}
	t.Rows = append(t.Rows, RawRow{
		Point: p, Round: round + 1, MinUS: x.MinUS, P50US: x.P50US, P99US: x.P99US, LateShare: x.LateShare, Carried: !x.Invalid && !over,
	})
}

// turns returns one for each line and number of ranks of a sweep.
func (s *Sweep) turns(t *SweepTimes) []turn {
	var all []turn
	for _, ranks := range t.Grid.Ranks {
		for _, line := range s.in(t.Way) {
			all = append(all, turn{
				fmt.Sprintf("%s of %d ranks", line.Name, ranks), s.arguments(line, ranks, t.Way),
				func(round int, rows []report.Row) error { return t.noteLine(line, ranks, round, rows) },
			})
		}
	}
	return all
}

// measure runs a sweep on this machine.
func (s *Sweep) measure(ctx context.Context, lab *Lab, way Setting, end time.Time) (*SweepTimes, error) {
	t := NewTimes(way, s.Grids[way], s.setting(way))
	t.cores = lab.Cores
	return t, t.measure(ctx, &lab.Bench, end, s.turns(t))
}

// noteLine takes the rows of a line in. They come in the order of the grid's lengths, though
// their own may differ by the rounding to whole elements. There are fewer if the run was
// interrupted.
func (t *SweepTimes) noteLine(line Line, ranks, round int, rows []report.Row) error {
	rows = fastest(rows, line.impl())
	if len(rows) > len(t.Grid.Bytes) {
		return fmt.Errorf("gaspi-bench wrote %d rows for %d lengths", len(rows), len(t.Grid.Bytes))
	}
	for i := range rows {
		p := Point{line.Name, ranks, t.Grid.Bytes[i]}
		if rows[i].Note != "" {
			t.without[p] = true
			continue
		}
		t.note(p, round, &rows[i])
	}
	return nil
}

// fastest returns the rows of an impl in the order of their first lengths: of each length the
// one that took least, since libraries are measured in several ways.
func fastest(rows []report.Row, impl string) []report.Row {
	var kept []report.Row
	for _, x := range rows {
		if x.Impl != impl {
			continue
		}
		i := slices.IndexFunc(kept, func(k report.Row) bool { return k.Bytes == x.Bytes })
		switch {
		case i < 0 || impl == report.ImplGaspi:
			kept = append(kept, x)
		case x.Note == "" && (kept[i].Note != "" || x.P50US < kept[i].P50US):
			kept[i] = x
		}
	}
	return kept
}

// arguments returns the command line of gaspi-bench for a line of the figure.
func (s *Sweep) arguments(line Line, ranks int, way Setting) []string {
	g := s.Grids[way]
	var sizes []string
	for _, n := range g.Bytes {
		sizes = append(sizes, strconv.Itoa(n))
	}
	args := []string{s.Op.String(), "-n", strconv.Itoa(ranks), "--sizes", strings.Join(sizes, ",")}
	if line.Peer != "" {
		return append(args, "--transport", "shm", "--side", report.ImplGaspi, "--peer", line.Peer, "--peer-segments", strconv.Itoa(max(line.Segments, 1)), "--repetitions", "1")
	}
	args = append(args, "--algorithm", line.Algorithm)
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
