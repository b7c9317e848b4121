package figure

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/report"
	"github.com/gaspi-go/gaspi-go/internal/chart"
)

// An objectRun is an operation of the object store as gaspi-bench measures it, for several
// numbers of ranks and either sizes or intervals at which ranks join.
type objectRun struct {
	op     string // broadcast for object-broadcast
	static string // algorithms of collective operations beside it, with commas between
	limit  bool   // bare writes beside it too
	ranks  []int
	bytes  []int
	// joins are intervals at which ranks join, in parts of what the only size takes on a
	// link; nil if all are there.
	joins []float64
}

// An objectFigure is what Figs. 5 to 8 consist of in one way.
type objectFigure struct {
	runs   []objectRun
	link   string // what is emulated; empty for nothing
	rate   float64
	inline int // size up to which objects are carried in the directory; 0 for the default
}

// Names of lines: what takes so long. Algorithms have their own names.
const (
	lineStore = "store"
	lineBare  = "bare writes"
	lineChain = "bare chain"
	lineLinks = "links alone"
)

// object is the name of a line of an operation in Times.
func object(op, line string) string { return op + " " + line }

// measure runs everything in rounds.
func (f *objectFigure) measure(ctx context.Context, lab *Lab, way Setting, end time.Time) (*SweepTimes, error) {
	t := NewTimes(way, Grid{Link: f.link}, f.setting())
	t.cores = lab.Cores
	return t, t.measure(ctx, &lab.Bench, end, f.turns(t))
}

// turns returns one for each point of each run.
func (f *objectFigure) turns(t *SweepTimes) []turn {
	var all []turn
	for i := range f.runs {
		r := &f.runs[i]
		for _, ranks := range r.ranks {
			for _, at := range r.points(f.rate) {
				all = append(all, turn{
					fmt.Sprintf("object-%s of %d ranks", r.op, ranks), f.arguments(r, ranks, at),
					func(round int, rows []report.Row) error {
						for j := range rows {
							t.noteObject(r.op, ranks, at.key(), round, &rows[j])
						}
						return nil
					},
				})
			}
		}
	}
	return all
}

// noteObject takes a row in.
func (t *SweepTimes) noteObject(op string, ranks, key, round int, x *report.Row) {
	name := map[string]string{report.ImplGaspi: lineStore, report.ImplLimit: lineBare, report.ImplChain: lineChain, report.ImplStatic: x.Algorithm}[x.Impl]
	t.note(Point{object(op, name), ranks, key}, round, x)
	if links := x.LinksUS * 1e-6; links > 0 {
		t.Set(Point{object(op, lineLinks), ranks, key}, Timing{Seconds: links, Low: links, High: links})
	}
}

// A join is a point: a size, and an interval at which ranks join, negative for none.
type join struct {
	bytes    int
	interval time.Duration
}

// key stands for a point in Times: its size, or its interval in microseconds.
func (j join) key() int {
	if j.interval < 0 {
		return j.bytes
	}
	return int(j.interval.Microseconds())
}

// points returns the points of a run on links of rate bytes per second.
func (r *objectRun) points(rate float64) []join {
	var all []join
	for _, n := range r.bytes {
		if r.joins == nil {
			all = append(all, join{n, -1})
		}
		for _, part := range r.joins {
			all = append(all, join{n, intervalOf(part, n, rate)})
		}
	}
	return all
}

// intervalOf is an interval that is a part of what n bytes take on a link, in whole
// microseconds.
func intervalOf(part float64, n int, rate float64) time.Duration {
	return time.Duration(part * float64(n) / rate * float64(time.Second)).Round(time.Microsecond)
}

// arguments returns the command line of gaspi-bench.
func (f *objectFigure) arguments(r *objectRun, ranks int, at join) []string {
	args := []string{"object-" + r.op, "-n", strconv.Itoa(ranks), "--sizes", strconv.Itoa(at.bytes)}
	if r.static != "" {
		args = append(args, "--static", r.static)
	}
	if !r.limit {
		args = append(args, "--side", report.ImplGaspi)
	}
	if at.interval >= 0 {
		args = append(args, "--interval", at.interval.String())
	}
	if f.link == "" {
		return append(args, "--transport", "shm")
	}
	return append(args, "--chunk", strconv.Itoa(chunkOf(at.bytes)), "--inline", strconv.Itoa(f.inline), "--emulate", f.link)
}

// chunkOf is the size of the pieces that objects move in on emulated links: small enough
// that passing one on takes little of the whole, but not so small that this host cannot
// carry the messages.
func chunkOf(bytes int) int { return min(max(bytes/32/64*64, 4*kib), 64*kib) }

func (f *objectFigure) setting() string {
	if f.link == "" {
		return "ranks are processes that share memory; objects move in pieces of 256 KiB"
	}
	return fmt.Sprintf("each rank behind a link of %s; sizes are the paper's by the bytes that a link has under way; objects move in pieces of a 32nd, from 4 to 64 KiB, and those of at most %s lie in the directory",
		f.link, showBytes(float64(f.inline)))
}

// part makes what is shown: a table and a panel for each run.
func (f *objectFigure) part(t *SweepTimes) *Part {
	p := &Part{Setting: t.Setting, Doubt: t.Doubt, Cut: t.Cut, Rows: t.Rows}
	drawing := chart.Chart{Title: t.Way.String()}
	for i := range f.runs {
		r := &f.runs[i]
		p.Tables = append(p.Tables, r.table(t, f.rate))
		for _, ranks := range r.ranks {
			drawing.Panels = append(drawing.Panels, r.panel(t, ranks, f.rate))
		}
	}
	p.Charts = []chart.Chart{drawing}
	return p
}

// lines returns the lines of a run that have times.
func (r *objectRun) lines(t *SweepTimes) []string {
	all := []string{lineStore}
	if r.static != "" {
		all = append(all, strings.Split(r.static, ",")...)
	}
	return slices.DeleteFunc(append(all, lineBare, lineChain, lineLinks), func(line string) bool {
		for p := range t.points {
			if p.Line == object(r.op, line) {
				return false
			}
		}
		return true
	})
}

func (r *objectRun) table(t *SweepTimes, rate float64) Table {
	table := Table{Title: r.op + ": time in milliseconds", Head: []string{"ranks", "object"}}
	if r.joins != nil {
		table.Title += " since the last rank has joined"
		table.Head = append(table.Head, "interval (ms)")
	}
	lines := r.lines(t)
	table.Head = append(table.Head, lines...)
	for _, ranks := range r.ranks {
		for _, at := range r.points(rate) {
			cells := []string{strconv.Itoa(ranks), showBytes(float64(at.bytes))}
			if r.joins != nil {
				cells = append(cells, showNumber(at.interval.Seconds()*1e3))
			}
			for _, line := range lines {
				cells = append(cells, showNumber(t.seconds(object(r.op, line), ranks, at.key())*1e3))
			}
			table.Rows = append(table.Rows, cells)
		}
	}
	return table
}

func (r *objectRun) panel(t *SweepTimes, ranks int, rate float64) chart.Panel {
	p := chart.Panel{Title: fmt.Sprintf("%s, %d ranks", r.op, ranks), XLabel: "size of the object (bytes)", YLabel: "time (ms)", XBytes: true, LogY: true}
	if r.joins != nil {
		p.XLabel, p.YLabel, p.XBytes, p.LogY = "interval (ms)", "time since the last rank has joined (ms)", false, false
	}
	for _, line := range r.lines(t) {
		curve := chart.Curve{Name: line, Limit: line == lineBare || line == lineLinks}
		for _, at := range r.points(rate) {
			x, ok := t.At(object(r.op, line), ranks, at.key())
			if !ok {
				continue
			}
			over := float64(at.bytes)
			if r.joins != nil {
				over = at.interval.Seconds() * 1e3
			}
			curve.X, curve.Y = append(curve.X, over), append(curve.Y, x.Seconds*1e3)
			curve.Low, curve.High = append(curve.Low, x.Low*1e3), append(curve.High, x.High*1e3)
		}
		p.Curves = append(p.Curves, curve)
	}
	return p
}
