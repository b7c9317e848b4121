package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/report"
	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/algorithms"
)

// A collective is what the command line says about a collective operation.
type collective struct {
	what        schedule.Operation
	algorithm   string // a name, auto or all
	dtype       dtype
	op          collectives.Op
	segments    int
	segmentSize uint64 // bytes
	threshold   float64
	processes   float64
	root        int
	plain       bool
	plan        bool
	noOp        bool
	foldRate    uint64 // bytes per second; 0 for as fast as can be
	explain     bool
}

// Names that --algorithm takes beside those of algorithms.
const (
	algorithmAuto = "auto"
	algorithmAll  = "all"
)

// options returns the options of the call. The team, not an option, forces an algorithm, so
// that each call needs as few options as possible.
func (c *collective) options() []collectives.Option {
	var opts []collectives.Option
	if c.algorithm == algorithmAuto {
		if c.segments > 0 {
			opts = append(opts, collectives.Concurrency(c.segments))
		}
		if c.segmentSize > 0 {
			opts = append(opts, collectives.SegmentSize(c.segmentElements()))
		}
	}
	if c.threshold > 0 {
		opts = append(opts, collectives.Threshold(c.threshold))
	}
	if c.processes > 0 {
		opts = append(opts, collectives.Processes(c.processes))
	}
	return opts
}

func (c *collective) segmentElements() int { return max(1, int(c.segmentSize)/c.dtype.size) }

// forced is the algorithm and its segments as the configuration of a team takes
// them, empty where the team chooses.
func (c *collective) forced() string {
	if c.algorithm == algorithmAuto {
		return ""
	}
	s := c.what.String() + ":" + c.algorithm
	if c.segmentSize > 0 {
		s += fmt.Sprintf("/%d", c.segmentElements())
	}
	if c.segments > 0 {
		s += fmt.Sprintf("x%d", c.segments)
	}
	return s
}

// shape is the call for vectors of about so many bytes, of a block in an
// AllToAll.
func (c *collective) shape(ranks int, bytes uint64) *shape {
	size := c.dtype.size
	s := &shape{op: c.what, ranks: ranks, root: c.root, element: size}
	count := max(1, int(bytes)/size)
	vector := count * size
	if c.what.Blockwise() {
		if c.what != schedule.AllToAll {
			count = max(1, count/ranks)
		}
		s.block = count * size
		vector = s.block * ranks
	}
	s.in, s.out = vector, vector
	switch c.what {
	case schedule.AllGather, schedule.Gather:
		s.in = s.block
	case schedule.ReduceScatter, schedule.Scatter:
		s.out = s.block
	case schedule.Barrier:
		s.in, s.out = 0, 0
	}
	s.kept = s.in
	if c.threshold > 0 {
		s.kept = int(math.Ceil(c.threshold*float64(count))) * size
	}
	return s
}

// count is how many elements a vector has, or a block where there are blocks.
func (s *shape) count() int {
	if s.op.Blockwise() {
		return s.block / s.element
	}
	return s.in / s.element
}

// bytes are those that the row of a call names.
func (s *shape) bytes() uint64 {
	if s.op == schedule.AllToAll {
		return uint64(s.block)
	}
	return uint64(max(s.in, s.out))
}

// newTeam makes a team that does what c says.
func (b *bench) newTeam(ctx context.Context, c *collective) (*collectives.Team, error) {
	return collectives.NewTeam(ctx, b.p.World(), collectives.Config{Algorithms: c.forced()})
}

// prepareCollective is prepare for collective operations: a workload for each
// algorithm that is asked for.
func prepareCollective(ctx context.Context, b *bench, size uint64) ([]workload, error) {
	c := *b.opts.collective
	names := []string{c.algorithm}
	if c.algorithm == algorithmAll || c.explain {
		c.algorithm = algorithmAuto
		all, err := b.candidates(ctx, &c, size)
		if err != nil {
			return nil, err
		}
		if b.opts.collective.explain {
			return nil, b.out.PrintHeaded(candidateLines(c.what.String(), c.shape(b.p.Size(), size).bytes(), all))
		}
		names = algorithmNames(c.what, all)
	}
	var all []workload
	for _, name := range names {
		with := c
		with.algorithm = name
		s := with.shape(b.p.Size(), size)
		all = append(all, workload{
			Subject: report.Subject{Op: c.what.String(), Bytes: s.bytes(), Moves: s.bytes() > 0}, timed: true, steps: 1,
			open: func(ctx context.Context, w *workload) (func(context.Context) error, error) {
				return b.openCollective(ctx, w, &with, s)
			},
		})
	}
	return all, nil
}

// candidates are the ways to do a call.
func (b *bench) candidates(ctx context.Context, c *collective, size uint64) ([]collectives.Candidate, error) {
	t, err := b.newTeam(ctx, c)
	if err != nil {
		return nil, err
	}
	k, err := c.dtype.open(ctx, t, c, c.shape(b.p.Size(), size))
	if err != nil {
		return nil, err
	}
	all, err := collectives.Explain(t, k.task)
	if err != nil {
		return nil, err
	}
	return all, errors.Join(k.release(ctx), t.Close())
}

// algorithmNames are the algorithms of candidates, the fastest by the model first,
// and then those that a team uses only if it is told to.
func algorithmNames(op schedule.Operation, all []collectives.Candidate) []string {
	var names []string
	for _, c := range all {
		if name := algorithmOf(c.Algorithm); !slices.Contains(names, name) {
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

// algorithmOf is the name of an algorithm without its parameters, as in
// "ring/4096x4 staged".
func algorithmOf(candidate string) string {
	return parameters.ReplaceAllString(candidate, "")
}

var parameters = regexp.MustCompile(`(/\d+)?(x\d+)?( .*)?$`)
