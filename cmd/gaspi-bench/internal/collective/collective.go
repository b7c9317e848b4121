package collective

import (
	"context"
	"fmt"
	"regexp"
	"slices"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/limit"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/measure"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/report"
	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/algorithms"
)

// A Spec is what the command line says about a collective operation.
type Spec struct {
	What        schedule.Operation
	Algorithm   string // a name, auto or all
	Dtype       DType
	Op          collectives.Op
	Segments    int
	SegmentSize uint64 // bytes
	Threshold   float64
	Processes   float64
	Root        int
	Plain       bool
	Plan        bool
	NoOp        bool
	FoldRate    uint64 // bytes per second; 0 for as fast as can be
	Explain     bool
}

// Names that --algorithm takes beside those of algorithms.
const (
	Auto = "auto"
	All  = "all"
)

// options returns the options of the call. The team, not an option, forces an algorithm, so
// that each call needs as few options as possible.
func (c *Spec) options() []collectives.Option {
	var opts []collectives.Option
	if c.Algorithm == Auto {
		if c.Segments > 0 {
			opts = append(opts, collectives.Concurrency(c.Segments))
		}
		if c.SegmentSize > 0 {
			opts = append(opts, collectives.SegmentSize(c.segmentElements()))
		}
	}
	if c.Threshold > 0 {
		opts = append(opts, collectives.Threshold(c.Threshold))
	}
	if c.Processes > 0 {
		opts = append(opts, collectives.Processes(c.Processes))
	}
	return opts
}

func (c *Spec) segmentElements() int { return max(1, int(c.SegmentSize)/c.Dtype.size) }

// forced is the algorithm and its segments as the configuration of a team takes
// them, empty where the team chooses.
func (c *Spec) forced() string {
	if c.Algorithm == Auto {
		return ""
	}
	s := c.What.String() + ":" + c.Algorithm
	if c.SegmentSize > 0 {
		s += fmt.Sprintf("/%d", c.segmentElements())
	}
	if c.Segments > 0 {
		s += fmt.Sprintf("x%d", c.Segments)
	}
	return s
}

// Shape is the call for vectors of about so many bytes, of a block in an AllToAll.
func (c *Spec) Shape(ranks int, bytes uint64) *limit.CallShape {
	return limit.NewShape(limit.CallShape{Op: c.What, Ranks: ranks, Root: c.Root, Element: c.Dtype.size}, bytes, c.Threshold)
}

// Open makes a team that does what c says, and the vectors of a call of some shape, which Release of
// the call gives back.
func (c *Spec) Open(ctx context.Context, p *gaspi.Proc, s *limit.CallShape) (*OpenedCall, error) {
	t, err := collectives.NewTeam(ctx, p.World(), collectives.Config{Algorithms: c.forced()})
	if err != nil {
		return nil, err
	}
	k, err := c.Dtype.open(ctx, t, c, s)
	if err != nil {
		return nil, err
	}
	k.Team = t
	release := k.Release
	k.Release = func(ctx context.Context) error {
		if err := release(ctx); err != nil {
			return err
		}
		return t.Close()
	}
	return k, nil
}

// Prepare makes the workloads of an operation of package collectives: one for each algorithm
// that is asked for.
func (wanted *Spec) Prepare(ctx context.Context, b *measure.Bench, size uint64) ([]measure.Workload, error) {
	c := *wanted
	names := []string{c.Algorithm}
	if c.Algorithm == All || c.Explain {
		c.Algorithm = Auto
		all, err := c.Candidates(ctx, b, size)
		if err != nil {
			return nil, err
		}
		if c.Explain {
			return nil, b.Out.PrintHeaded(candidateLines(c.What.String(), c.Shape(b.P.Size(), size).Bytes(), all))
		}
		names = algorithmNames(c.What, all)
	}
	var all []measure.Workload
	for _, name := range names {
		with := c
		with.Algorithm = name
		s := with.Shape(b.P.Size(), size)
		all = append(all, measure.Workload{
			Subject: report.Subject{Op: c.What.String(), Bytes: s.Bytes(), Moves: s.Bytes() > 0}, Timed: true, Steps: 1,
			Open: func(ctx context.Context, w *measure.Workload) (func(context.Context) error, error) {
				return with.openWorkload(ctx, b, w, s)
			},
		})
	}
	return all, nil
}

// Candidates are the ways to do a call.
func (c *Spec) Candidates(ctx context.Context, b *measure.Bench, size uint64) ([]collectives.Candidate, error) {
	k, err := c.Open(ctx, b.P, c.Shape(b.P.Size(), size))
	if err != nil {
		return nil, err
	}
	all, err := collectives.Explain(k.Team, k.Task)
	if err != nil {
		return nil, err
	}
	return all, k.Release(ctx)
}

// algorithmNames are the algorithms of candidates, the fastest by the model first,
// and then those that a team uses only if it is told to.
func algorithmNames(op schedule.Operation, all []collectives.Candidate) []string {
	var names []string
	for _, c := range all {
		if name := AlgorithmOf(c.Algorithm); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, a := range algorithms.For(op) {
		if a.Differs && !slices.Contains(names, a.Name) {
			names = append(names, a.Name)
		}
	}
	return names
}

// AlgorithmOf is the name of an algorithm without its parameters, as in
// "ring/4096x4 staged".
func AlgorithmOf(candidate string) string {
	return parameters.ReplaceAllString(candidate, "")
}

var parameters = regexp.MustCompile(`(/\d+)?(x\d+)?( .*)?$`)
