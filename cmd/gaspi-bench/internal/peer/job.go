package peer

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Job is a run of the benchmark: some points, measured one after the other by
// the same ranks.
type Job struct {
	Ranks      int
	Bound      bool   // each rank runs on one core, else the system places them
	Yield      bool   // ranks outnumber cores, and share them
	TCP        bool   // over TCP on the loopback interface, else through shared memory
	Congestion string // of TCP; empty for the system's
	Provider   string // of libfabric
	Algorithm  string // one of Algorithms; empty for the library's own choice

	DType  string // of elements, as gaspi-bench calls it
	Op     string // how they are combined: sum, prod, min, max, and, or, xor
	Root   int
	Most   int           // numbers that ranks contribute are below it, at least 1
	Time   time.Duration // how long to measure for a point
	Verify bool          // check every result, else the first and the last
	Limit  time.Duration // a point that takes longer in all is given up
	Points []Point
}

// A Point is an operation of one size, done in one way.
type Point struct {
	Operation string // as gaspi-bench calls it
	Count     uint64 // elements of a vector, or of a block where there are blocks; bytes of a message
	Way       string // one of Ways
}

// String is the point as programs take it: OPERATION:COUNT:WAY.
func (p Point) String() string {
	return p.Operation + ":" + strconv.FormatUint(p.Count, 10) + ":" + p.Way
}

// A PointResult is what became of a point.
type PointResult struct {
	Point      int             // index in Job.Points
	Operations int             // in each block
	Blocks     []time.Duration // of the slowest rank each, in the order of time
	Processors time.Duration   // that all ranks used for all blocks
	OverLimit  bool            // it took longer than Job.Limit, and there is nothing else
	Failed     string          // why it has failed, and there is nothing else
}

// Ways are the ways in which a library does an operation, the better of which is
// what it can do; nil if it has no such operation, or there is no such library.
func Ways(name, operation string) []string {
	l, err := named(name)
	if err != nil {
		return nil
	}
	return l.ways(operation)
}

// Algorithms are the names that Job.Algorithm takes for an operation, sorted; none
// where there is no choice.
func (p *Peer) Algorithms(ctx context.Context, operation string) ([]string, error) {
	all, err := p.library.algorithms(ctx, p.library, operation)
	if err != nil {
		return nil, fmt.Errorf("listing the algorithms of %s: %w", p.library.title, err)
	}
	return slices.Sorted(maps.Keys(all)), nil
}

// launch is how a job is launched, with the program and its arguments.
func (p *Peer) launch(ctx context.Context, j Job) (launch, error) {
	l := p.library.command(j)
	if p.library.dir != "" { // where the compiler left no path in the program
		path := filepath.Join(p.library.dir, "lib")
		if more := os.Getenv("LD_LIBRARY_PATH"); more != "" {
			path += ":" + more
		}
		l.env = append(l.env, "LD_LIBRARY_PATH="+path)
	}
	if j.Algorithm != "" {
		all, err := p.library.algorithms(ctx, p.library, j.Points[0].Operation)
		if err != nil {
			return l, err
		}
		forced, ok := all[j.Algorithm]
		if !ok {
			return l, fmt.Errorf("%s has no algorithm %q for %s; choose from %s",
				p.library.title, j.Algorithm, j.Points[0].Operation, strings.Join(slices.Sorted(maps.Keys(all)), ", "))
		}
		l = l.and(forced)
	}
	if p.library.launcher != "" {
		l.args = append(l.args, p.program)
	}
	return l.and(launch{args: p.library.arguments(j)}), nil
}

// points are the last arguments of every program.
func (j Job) points() []string {
	var all []string
	for _, point := range j.Points {
		all = append(all, point.String())
	}
	return all
}
