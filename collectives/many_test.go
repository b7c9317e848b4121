package collectives_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/ranktest"
)

// A severalShape is a call on several vectors of each member.
type severalShape struct {
	vectors, block int // elements of a block, of which a vector has as many as there are members
	scatter        bool
	inPlace        bool // of a scatter: the block is that of the first vector
	reached        bool // the vectors lie in an Alloc
	op             collectives.Op
	opts           []collectives.Option
}

// several are the buffers of a member for calls of a shape.
type several struct {
	severalShape
	team *collectives.Team
	room []float64 // the vectors, and behind them a block
}

// newSeveral makes buffers.
func newSeveral(ctx context.Context, team *collectives.Team, shape severalShape) (*several, error) {
	s := &several{severalShape: shape, team: team}
	elements := shape.vectors*s.length() + shape.block
	if !shape.reached {
		s.room = make([]float64, elements)
		return s, nil
	}
	var err error
	s.room, err = collectives.Alloc[float64](ctx, team, elements)
	return s, err
}

// length is the elements of a vector.
func (s *several) length() int { return s.block * s.team.Size() }

// vector is the k-th vector.
func (s *several) vector(k int) []float64 { return s.room[k*s.length():][:s.length()] }

// result is the block of a scatter.
func (s *several) result() []float64 {
	if s.inPlace {
		return s.vector(0)[s.team.Rank()*s.block:][:s.block]
	}
	return s.room[s.vectors*s.length():]
}

// call makes the call, with a slice of vectors that is made for it.
func (s *several) call(ctx context.Context) error {
	var bufs [][]float64
	switch s.vectors {
	case 1:
		bufs = [][]float64{s.vector(0)}
	case 2:
		bufs = [][]float64{s.vector(0), s.vector(1)}
	case 3:
		bufs = [][]float64{s.vector(0), s.vector(1), s.vector(2)}
	default:
		return fmt.Errorf("%d vectors", s.vectors)
	}
	return s.callOn(ctx, bufs)
}

// callOn makes the call on vectors.
func (s *several) callOn(ctx context.Context, bufs [][]float64) error {
	if s.scatter {
		return collectives.ReduceScatterMany(ctx, s.team, s.result(), bufs, s.op, s.opts...)
	}
	return collectives.AllReduceMany(ctx, s.team, bufs, s.op, s.opts...)
}

// contribution is an element of a vector in a round.
func contribution(round, rank, k, i int) float64 { return float64(7*i + 3*rank + 5*k + round) }

func (s *several) fill(round int) {
	for k := range s.vectors {
		for i := range s.vector(k) {
			s.vector(k)[i] = contribution(round, s.team.Rank(), k, i)
		}
	}
}

// check compares all results of a round.
func (s *several) check(round int) error {
	want := func(i int) (sum float64) {
		for rank := range s.team.Size() {
			for k := range s.vectors {
				sum += contribution(round, rank, k, i)
			}
		}
		if s.op == collectives.Average {
			return sum / float64(s.team.Size())
		}
		return sum
	}
	what := fmt.Sprintf("round %d of %+v", round, s.severalShape)
	if s.scatter {
		return matches(what, s.result(), func(i int) float64 { return want(s.team.Rank()*s.block + i) })
	}
	for k := range s.vectors {
		if err := matches(fmt.Sprintf("%s: vector %d", what, k), s.vector(k), want); err != nil {
			return err
		}
	}
	return nil
}

// severalShapes are shapes of every sort.
func severalShapes() []severalShape {
	ring := []collectives.Option{collectives.Algorithm("ring")}
	var all []severalShape
	for _, scatter := range []bool{false, true} {
		for _, s := range []severalShape{
			{vectors: 3, block: 1}, {vectors: 2, block: 5}, {vectors: 3, block: 5}, {vectors: 1, block: 5}, {vectors: 3, block: 0},
			{vectors: 3, block: 300}, {vectors: 3, block: 5, reached: true}, {vectors: 2, block: 300, reached: true},
			{vectors: 3, block: 5, op: collectives.Average}, {vectors: 2, block: 5, opts: ring},
		} {
			s.scatter = scatter
			all = append(all, s)
			if scatter {
				s.inPlace = true
				all = append(all, s)
			}
		}
	}
	return all
}

// lanes makes plans of several lanes.
const lanes = "allreduce:ringx3,reducescatter:ringx3"

// TestRepeatedCallsOnManyAllocateNothing is calls on several vectors like the ones before, in goroutines and in processes.
func TestRepeatedCallsOnManyAllocateNothing(t *testing.T) {
	for _, ranks := range []int{1, 2, 3} {
		t.Run(fmt.Sprintf("%d ranks", ranks), func(t *testing.T) {
			ranktest.Local(t, ranks, small, func(ctx context.Context, p *gaspi.Proc) error { return playMany(ctx, p, 100) })
		})
	}
	t.Run("processes", func(t *testing.T) { succeeds(t, 2, "many", 100) })
}

// playMany makes calls of every shape, and then so many more, in which rank 0 counts what is allocated in its process.
func playMany(ctx context.Context, p *gaspi.Proc, runs uint64) error {
	return errors.Join(playManyBy(ctx, p, "", runs), playManyBy(ctx, p, lanes, runs))
}

func playManyBy(ctx context.Context, p *gaspi.Proc, algorithms string, runs uint64) error {
	team, err := collectives.NewTeam(ctx, p.World(), collectives.Config{Algorithms: algorithms})
	if err != nil {
		return err
	}
	collectives.SetPatience(team, time.Hour)
	for _, shape := range severalShapes() {
		if algorithms != "" && shape.opts != nil {
			continue // a call that is not quick makes a copy of its options
		}
		s, err := newSeveral(ctx, team, shape)
		if err != nil {
			return err
		}
		for round := range 3 {
			s.fill(round)
			if err := s.call(ctx); err != nil {
				return fmt.Errorf("%+v: %w", shape, err)
			}
			if err := s.check(round); err != nil {
				return err
			}
		}
		n, err := allocations(ctx, p, int(runs), func() error { return s.call(ctx) })
		if err != nil {
			return err
		}
		if n > 0 {
			return fmt.Errorf("%+v: %v allocations in a call", shape, n)
		}
	}
	return errors.Join(p.Barrier(ctx, p.World()), team.Close())
}

// TestManyOfChangingShapes makes calls of many shapes in turns, some again and again, with other buffers of the same shape and
// with single calls of the same length between them.
func TestManyOfChangingShapes(t *testing.T) {
	seed := seedOf(t)
	for i, ranks := range []int{1, 2, 3, 5, 2, 3} {
		algorithms := []string{"", lanes}[i/4]
		t.Run(fmt.Sprintf("%d ranks %s", ranks, algorithms), func(t *testing.T) {
			onTeam(t, ranks, collectives.Config{Algorithms: algorithms}, func(ctx context.Context, team *collectives.Team) error {
				shapes := severalShapes()
				all := make([]*several, 2*len(shapes))
				for i := range all {
					var err error
					if all[i], err = newSeveral(ctx, team, shapes[i/2]); err != nil {
						return err
					}
				}
				r := rand.New(rand.NewPCG(seed, 0))
				for round := range 300 {
					s := all[r.IntN(len(all))]
					for range 1 + r.IntN(3) {
						s.fill(round)
						if err := errors.Join(s.call(ctx), s.check(round)); err != nil {
							return fmt.Errorf("seed %d: %w", seed, err)
						}
					}
					if r.IntN(3) > 0 {
						continue
					}
					one := vector(s.length(), func(i int) float64 { return float64(i) })
					if err := collectives.AllReduce(ctx, team, one, collectives.Sum, s.opts...); err != nil {
						return err
					}
					if err := matches("one vector", one, func(i int) float64 { return float64(i * ranks) }); err != nil {
						return fmt.Errorf("seed %d: round %d: %w", seed, round, err)
					}
				}
				return nil
			})
		})
	}
}

// TestManyOfWrongLengthsAreRefused makes calls that differ from the one before in a length, and those of other types and
// functions, which are another call.
func TestManyOfWrongLengthsAreRefused(t *testing.T) {
	onTeam(t, 2, collectives.Config{}, func(ctx context.Context, team *collectives.Team) error {
		fill := func() [][]float64 { return [][]float64{{1, 2}, {3, 4}, {5, 6}} }
		block := make([]float64, 1)
		for range 3 {
			if err := collectives.AllReduceMany(ctx, team, fill(), collectives.Sum); err != nil {
				return err
			}
		}
		for _, bufs := range [][][]float64{nil, {{1, 2}, {3, 4}, {5}}, {{1, 2}, {3}, {5, 6}}, {{1, 2}, {3, 4, 5}, {5, 6}}, {{1}, {3, 4}, {5, 6}}} {
			if err := collectives.AllReduceMany(ctx, team, bufs, collectives.Sum); !errors.Is(err, gaspi.ErrOutOfRange) {
				return fmt.Errorf("%v: got %v, want %v", bufs, err, gaspi.ErrOutOfRange)
			}
		}
		for range 3 {
			if err := collectives.ReduceScatterMany(ctx, team, block, fill(), collectives.Sum); err != nil {
				return err
			}
		}
		for _, bufs := range [][][]float64{nil, {{1, 2}, {3, 4}, {5}}, {{1}, {3, 4}, {5, 6}}} {
			if err := collectives.ReduceScatterMany(ctx, team, block, bufs, collectives.Sum); !errors.Is(err, gaspi.ErrOutOfRange) {
				return fmt.Errorf("%v: got %v, want %v", bufs, err, gaspi.ErrOutOfRange)
			}
		}
		for range 3 {
			ints := [][]int64{{1, 2}, {3, 4}, {5, 6}}
			floats := fill()
			most := fill()
			err := errors.Join(
				collectives.AllReduceMany(ctx, team, ints, collectives.Sum),
				collectives.AllReduceManyFunc(ctx, team, floats, func(dst, a, b []float64) {
					for i := range dst {
						dst[i] = a[i] * b[i]
					}
				}, false),
				collectives.AllReduceMany(ctx, team, most, collectives.Max),
			)
			if err != nil {
				return err
			}
			for k := range 3 {
				if !slices.Equal(ints[k], []int64{18, 24}) || !slices.Equal(floats[k], []float64{225, 2304}) || !slices.Equal(most[k], []float64{5, 6}) {
					return fmt.Errorf("vector %d: %v, %v and %v", k, ints[k], floats[k], most[k])
				}
			}
		}
		return nil
	})
}

// TestManyGoOnAfterTimeout is calls on several vectors whose context ends while a rank is late.
func TestManyGoOnAfterTimeout(t *testing.T) {
	for _, shape := range severalShapes() {
		if shape.block == 0 || shape.reached {
			continue // nothing is waited for, or the memory would be made anew
		}
		for _, ranks := range []int{2, 3} {
			t.Run(fmt.Sprintf("%d ranks, %+v", ranks, shape), func(t *testing.T) {
				members := make([]*several, ranks)
				late(t, ranks, func(ctx context.Context, team *collectives.Team, round int) error {
					s := members[team.Rank()]
					if s == nil {
						var err error
						if s, err = newSeveral(ctx, team, shape); err != nil {
							return err
						}
						members[team.Rank()] = s
						s.fill(round)
					} else if err := s.callOnOthers(ctx); err != nil {
						return err
					}
					if err := s.call(ctx); err != nil {
						return err
					}
					members[team.Rank()] = nil
					return s.check(round)
				})
			})
		}
	}
}

// callOnOthers makes a call that has ended early again, with another last vector, which is refused.
func (s *several) callOnOthers(ctx context.Context) error {
	if s.vectors == 1 {
		return nil
	}
	bufs := make([][]float64, s.vectors)
	for k := range bufs {
		bufs[k] = s.vector(k)
	}
	bufs[s.vectors-1] = make([]float64, s.length())
	if err := s.callOn(ctx, bufs); !errors.Is(err, gaspi.ErrMismatch) || !strings.Contains(err.Error(), "ended early and is to be finished first") {
		return fmt.Errorf("with another last vector: got %v, want %v", err, gaspi.ErrMismatch)
	}
	return nil
}

// TestManyAfterReset makes the same calls before and after the team was reset.
func TestManyAfterReset(t *testing.T) {
	onTeam(t, 3, collectives.Config{}, func(ctx context.Context, team *collectives.Team) error {
		for _, shape := range severalShapes() {
			s, err := newSeveral(ctx, team, shape)
			if err != nil {
				return err
			}
			for round := range 9 {
				s.fill(round)
				if err := errors.Join(s.call(ctx), s.check(round)); err != nil {
					return err
				}
				if round%3 == 2 {
					if err := team.Reset(ctx); err != nil {
						return err
					}
				}
			}
		}
		return nil
	})
}

// TestBlocksInPlaceOfAWrongLengthAreRefused makes calls in place whose block begins where it has to, but is too short.
func TestBlocksInPlaceOfAWrongLengthAreRefused(t *testing.T) {
	for name, call := range map[string]func(ctx context.Context, team *collectives.Team, block, long []float64) error{
		"reducescatter": func(ctx context.Context, team *collectives.Team, block, long []float64) error {
			return collectives.ReduceScatter(ctx, team, block, long, collectives.Sum)
		},
		"reducescatter of several": func(ctx context.Context, team *collectives.Team, block, long []float64) error {
			return collectives.ReduceScatterMany(ctx, team, block, [][]float64{long, make([]float64, len(long))}, collectives.Sum)
		},
		"allgather": func(ctx context.Context, team *collectives.Team, block, long []float64) error {
			return collectives.AllGather(ctx, team, long, block)
		},
	} {
		t.Run(name, func(t *testing.T) {
			onTeam(t, 1, collectives.Config{}, func(ctx context.Context, team *collectives.Team) error {
				long := make([]float64, 4)
				for range 3 {
					if err := call(ctx, team, long, long); err != nil {
						return err
					}
				}
				if err := call(ctx, team, long[:2], long); !errors.Is(err, gaspi.ErrOutOfRange) {
					return fmt.Errorf("got %v, want %v", err, gaspi.ErrOutOfRange)
				}
				return nil
			})
		})
	}
}
