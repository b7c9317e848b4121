// Package figure reproduces the figures of the papers that this project builds
// on, as far as they are about communication. A figure is data: what is measured (a
// Sweep), where (its grids), and what the paper says of it (Claims). Each is looked at
// in up to three ways: simulated from the schedules at the paper's own size, run on
// emulated links, and run on this machine as it is. The functions of judge.go compute the
// verdict on a claim from the numbers; no verdict is written down.
//
// It starts gaspi-bench for what is measured, draws SVG and writes the report. It does
// not parse the command line.
package figure

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/chart"
	"github.com/gaspi-go/gaspi-go/internal/spelling"
)

// A Paper is where figures are from.
type Paper struct{ Name, Title string }

// The papers.
var (
	pipelined = Paper{"pipelined", "Pipelined allreduce for distributed training"}
	eventual  = Paper{"eventual", "Efficient and eventually consistent collective operations"}
	gloo      = Paper{"gloo", "Gloo's list of algorithms"}
	hoplite   = Paper{"hoplite", "Hoplite: efficient collective communication for task-based distributed systems"}
)

// A Figure is a figure or a table of a paper.
type Figure struct {
	Name  string // as gaspi-bench figure takes it
	Paper Paper
	Place string // such as "Fig. 3"
	Title string
	About string // what was done, in a sentence or two
	// Sweep and Claims make the figure; Chart says how a sweep is drawn.
	Sweep  *Sweep
	Chart  ChartForm
	Claims []Claim
	// Other makes a figure that is no sweep. Rounds end before end.
	Other func(ctx context.Context, lab *Lab, way Setting, end time.Time) (*Part, error)
	// Ways are those that Other knows.
	Ways []Setting
}

// A Lab is what figures are made with.
type Lab struct {
	Bench Bench
	Ways  []Setting
	// Quick looks at fewer points.
	Quick bool
	// Budget is how long a figure may take in each way that measures. No round begins that
	// would take longer; one that does is cut.
	Budget time.Duration
	// Cores is how many this host has. Times of more ranks that share memory are not valid. 0
	// stands for as many as there are ranks.
	Cores int
	// Peers are libraries to measure beside the runtime where ranks are real, as --peer of
	// gaspi-bench names them.
	Peers []string
}

// A FigureResult is a figure as it came out.
type FigureResult struct {
	Figure *Figure
	Parts  []Part // one for each way
	Took   time.Duration
}

// A Part is a figure in one way.
type Part struct {
	Way      Setting
	Setting  string
	Doubt    string // why the numbers cannot be trusted, empty if they can
	Cut      string // why some are missing, empty if none are
	Missing  string // why there are none, empty if there are
	Charts   []chart.Chart
	Tables   []Table
	Verdicts []Verdict
	Rows     []RawRow
}

// A Table is numbers in rows.
type Table struct {
	Title string
	Head  []string
	Rows  [][]string
}

// All are all figures, in the order of the papers.
func All() []Figure {
	return slices.Concat(pipelinedFigures(), eventualFigures(), glooFigures(), hopliteFigures())
}

// Lookup is the figure of that name.
func Lookup(name string) (*Figure, error) {
	var names []string
	for _, f := range All() {
		if f.Name == name {
			return &f, nil
		}
		names = append(names, f.Name)
	}
	return nil, spelling.Unknown("unknown figure", name, names)
}

// ways are those in which a figure can be looked at.
func (f *Figure) ways() []Setting {
	if f.Sweep == nil {
		return f.Ways
	}
	return slices.DeleteFunc(Ways(), func(w Setting) bool { _, ok := f.Sweep.Grids[w]; return !ok })
}

// Run makes a figure in all ways that the lab asks for. If a way cannot be measured, its part
// of the result says why. Run fails only when ctx ends; the result then has the parts that
// were made, of which the last may be cut.
func (l *Lab) Run(ctx context.Context, f *Figure) (*FigureResult, error) {
	began := time.Now()
	r := &FigureResult{Figure: f}
	for _, way := range f.ways() {
		if !slices.Contains(l.Ways, way) {
			continue
		}
		part, err := l.part(ctx, f, way)
		if ctx.Err() != nil && err != nil {
			break
		}
		if err != nil {
			part = &Part{Missing: err.Error()}
			part.Verdicts = f.unknown(way)
		}
		part.Way = way
		r.Parts = append(r.Parts, *part)
		if ctx.Err() != nil {
			break
		}
	}
	if l.Bench.Done != nil {
		l.Bench.Done()
	}
	r.Took = time.Since(began)
	return r, ctx.Err()
}

// Short reports whether a part lacks numbers, or rounds of them, because it was cut or its time was over.
func (p *Part) Short() bool { return p.Cut != "" || p.Missing == errLate.Error() }

// made reports whether a part has numbers.
func (p *Part) made() bool { return p.Missing == "" && len(p.Tables) > 0 }

// Made reports whether the figure has numbers in any way.
func (r *FigureResult) Made() bool {
	return slices.ContainsFunc(r.Parts, func(p Part) bool { return p.made() })
}

// Unmeasured returns an error that says why, if ways that measure were asked for and figures
// have numbers in none of them.
func Unmeasured(results ...*FigureResult) error {
	why := ""
	for _, r := range results {
		for _, p := range r.Parts {
			switch {
			case p.Way == Simulated:
			case p.made():
				return nil
			case why == "":
				why = fmt.Sprintf("%s, %s: %s", r.Figure.Name, p.Way, p.Missing)
			}
		}
	}
	if why == "" {
		return nil
	}
	return errors.New("nothing could be measured: " + why)
}

// WhyNot says why a figure has no numbers, in the first of its ways.
func (r *FigureResult) WhyNot() string {
	if len(r.Parts) > 0 {
		return r.Parts[0].Missing
	}
	var names []string
	for _, way := range r.Figure.ways() {
		names = append(names, way.String())
	}
	return r.Figure.Name + " is made in no such way; choose from " + strings.Join(names, ", ") + " by --way"
}

// beside is a sweep with a line for each library that does the operation too. It fails if a
// line of the sweep itself needs a library that is not among them.
func (s *Sweep) beside(peers []string) (*Sweep, error) {
	with := *s
	with.Lines = slices.Clone(s.Lines)
	own := false
	for i, line := range s.Lines {
		if line.Peer == "" {
			continue
		}
		named := func(peer string) bool { return peer == line.Peer || strings.HasPrefix(peer, line.Peer+"=") } // =DIR
		k := slices.IndexFunc(peers, named)
		if k < 0 {
			return nil, fmt.Errorf("it is measured beside a library of MPI; add --peer %s", line.Peer)
		}
		own, with.Lines[i].Peer = true, peers[k]
	}
	for _, name := range peers {
		if !own {
			with.Lines = append(with.Lines, Line{Name: name, Peer: name})
		}
	}
	return &with, nil
}

// unknown are the verdicts of a way in which nothing was measured.
func (f *Figure) unknown(way Setting) []Verdict {
	var all []Verdict
	for _, c := range f.claimsIn(way) {
		all = append(all, Verdict{Claim: c, Way: way, Number: math.NaN()})
	}
	return all
}

// claimsIn are the claims that there is a number for in a way.
func (f *Figure) claimsIn(way Setting) []*Claim {
	var all []*Claim
	for i := range f.Claims {
		if c := &f.Claims[i]; among(c.Only, way) {
			all = append(all, c)
		}
	}
	return all
}

// part makes a figure in one way. One that measures ends with the budget.
func (l *Lab) part(ctx context.Context, f *Figure, way Setting) (*Part, error) {
	if way == Simulated {
		return l.inTime(ctx, f, way, time.Time{})
	}
	end := time.Now().Add(l.Budget)
	within, cancel := context.WithDeadlineCause(ctx, end, errLate)
	defer cancel()
	p, err := l.inTime(within, f, way, end)
	if err != nil && errors.Is(context.Cause(within), errLate) {
		return nil, errLate
	}
	return p, err
}

// inTime is part, whose rounds begin before end.
func (l *Lab) inTime(ctx context.Context, f *Figure, way Setting, end time.Time) (*Part, error) {
	if f.Sweep == nil {
		return f.Other(ctx, l, way, end)
	}
	s, err := f.Sweep.beside(l.Peers)
	if err != nil {
		return nil, err
	}
	if l.Quick {
		s = s.thinned()
	}
	t, err := l.times(ctx, s, way, end)
	if err != nil {
		return nil, err
	}
	p := &Part{Setting: t.Setting, Doubt: t.Doubt, Cut: t.Cut, Rows: t.Rows}
	p.Charts = f.Chart.charts(s, t)
	p.Tables = []Table{s.table(t)}
	p.judge(t, f.claimsIn(way)...)
	return p, nil
}

// times returns the measured or simulated times of a sweep.
func (l *Lab) times(ctx context.Context, s *Sweep, way Setting, end time.Time) (*SweepTimes, error) {
	if way == Simulated {
		return s.simulate(ctx)
	}
	return s.measure(ctx, l, way, end)
}

// errLate is the cause of a context that ended because a figure took too long.
var errLate = errors.New("it took longer than --budget; raise that")

// cutBy says why a measurement ended with ctx.
func cutBy(ctx context.Context) string {
	if errors.Is(context.Cause(ctx), errLate) {
		return errLate.Error()
	}
	return "it was interrupted"
}
