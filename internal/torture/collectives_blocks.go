package torture

import (
	"context"
	"fmt"
	"slices"

	"github.com/gaspi-go/gaspi-go/collectives"
)

// between is the number that stands for a pair of members, as a contributor.
func (s *callShape[T]) between(from, to int) int { return 1000 + from*s.size + to }

// letters is what a member sends to all, or gets from all, one block behind the other.
func (s *callShape[T]) letters(run uint64, sends bool, lengths []int) []T {
	var all []T
	for peer, n := range lengths {
		pair := s.between(peer, s.place)
		if sends {
			pair = s.between(s.place, peer)
		}
		all = append(all, s.of(run, pair, n)...)
	}
	return all
}

func (s *callShape[T]) allToAll(ctx context.Context) (*boundCall, error) {
	s.n /= s.size
	s.blocks = slices.Repeat([]int{s.n}, s.size)
	if err := s.take(ctx, s.n*s.size, s.n*s.size); err != nil {
		return nil, err
	}
	if s.inPlace {
		s.src = s.dst
	}
	c := s.call(fmt.Sprintf("AllToAll, in place %v,", s.inPlace), func(run uint64) { copy(s.src, s.letters(run, true, s.blocks)) },
		func(run uint64, _ collectives.Status) error {
			return same("dst", s.dst, s.letters(run, false, s.blocks))
		})
	return s.finishing(c,
		func(opts ...collectives.Option) collectives.Task {
			return collectives.AllToAllTask(s.team, s.dst, s.src, opts...)
		},
		func(ctx context.Context, opts ...collectives.Option) (collectives.Status, error) {
			return silent(collectives.AllToAll(ctx, s.team, s.dst, s.src, opts...))
		})
}

// allToAllV has a block for each pair, of a length that both can tell.
func (s *callShape[T]) allToAllV(ctx context.Context) (*boundCall, error) {
	length := func(from, to int) int {
		return stream(s.key, uint64(from), uint64(to)).IntN(1 + s.counts[(from+to)%s.size]/2)
	}
	sends, receives := make([]int, s.size), make([]int, s.size)
	for peer := range sends {
		sends[peer], receives[peer] = length(s.place, peer), length(peer, s.place)
	}
	if err := s.take(ctx, s.size<<17, s.size<<17); err != nil {
		return nil, err
	}
	s.src, s.dst = s.src[:sumOf(sends)], s.dst[:sumOf(receives)]
	c := s.call("AllToAllV", func(run uint64) { copy(s.src, s.letters(run, true, sends)) },
		func(run uint64, _ collectives.Status) error {
			return same("dst", s.dst, s.letters(run, false, receives))
		})
	c.task = func(ctx context.Context) (collectives.Task, error) {
		return collectives.AllToAllVTask(ctx, s.team, s.dst, receives, s.src, sends)
	}
	c.blocking = func(ctx context.Context) (collectives.Status, error) {
		return silent(collectives.AllToAllV(ctx, s.team, s.dst, receives, s.src, sends))
	}
	return c, nil
}

// exchange is the pairwise exchange: part k of src goes to the member whose number differs
// in bit k.
func (s *callShape[T]) exchange(ctx context.Context) (*boundCall, error) {
	rounds := 1 + s.plan.IntN(4)
	s.n = s.n / rounds
	if err := s.take(ctx, s.n*rounds, s.n*rounds); err != nil {
		return nil, err
	}
	fill := func(run uint64) {
		copy(s.src, s.of(run, s.place, len(s.src)))
		copy(s.dst, s.other(run, len(s.dst)))
	}
	check := func(run uint64, _ collectives.Status) error {
		want := s.other(run, len(s.dst))
		for k := range rounds {
			if peer := s.place ^ 1<<k; peer < s.size {
				copy(want[k*s.n:(k+1)*s.n], s.of(run, peer, len(s.src))[k*s.n:])
			}
		}
		return same("dst", s.dst, want)
	}
	c := s.call(fmt.Sprintf("Exchange in %d rounds", rounds), fill, check)
	return s.finishing(c,
		func(opts ...collectives.Option) collectives.Task {
			return collectives.ExchangeTask(s.dst, s.src, rounds, opts...)
		}, nil)
}

// broadcast is of all of the vector, of its first part, or in coded form.
func (s *callShape[T]) broadcast(ctx context.Context) (*boundCall, error) {
	if err := s.take(ctx, 0, s.n); err != nil {
		return nil, err
	}
	fraction, more, how := s.relaxed()
	fill := func(run uint64) {
		copy(s.dst, s.other(run, s.n))
		if s.place == s.root {
			copy(s.dst, s.of(run, s.root, s.n))
		}
	}
	check := func(run uint64, st collectives.Status) error {
		first := s.portion(fraction)
		if err := s.status(st, first); err != nil {
			return err
		}
		want := s.of(run, s.root, s.n)
		if s.place != s.root {
			copy(want[first:], s.other(run, s.n)[first:])
		}
		return same("buf", s.dst, want)
	}
	c := s.call(fmt.Sprintf("Broadcast from %d%s", s.root, how), fill, check)
	return s.finishing(c,
		func(opts ...collectives.Option) collectives.Task {
			return collectives.BroadcastTask(s.root, s.dst, opts...)
		},
		func(ctx context.Context, opts ...collectives.Option) (collectives.Status, error) {
			return collectives.Broadcast(ctx, s.team, s.root, s.dst, opts...)
		}, more...)
}

// relaxed draws a threshold or a compression, or neither.
func (s *callShape[T]) relaxed() (fraction float64, more []collectives.Option, how string) {
	if s.style.forced {
		return 1, nil, ""
	}
	switch s.plan.IntN(4) {
	case 0:
		fraction = pick(s.plan, 0.25, 0.5, 0.75, 1)
		return fraction, []collectives.Option{collectives.Threshold(fraction)}, fmt.Sprintf(", threshold %g,", fraction)
	case 1:
		return 1, []collectives.Option{collectives.Compress(collectives.Lossless())}, ", compressed,"
	}
	return 1, nil, ""
}

// portion is how many elements a threshold leaves; fractions are quarters, so that it is exact.
func (s *callShape[T]) portion(fraction float64) int { return (s.n*int(4*fraction) + 3) / 4 }

// status checks what a call says that it did. A run of a plan without a handle says nothing.
func (s *callShape[T]) status(st collectives.Status, first int) error {
	if st.Elements >= 0 && (st.Elements != first || st.Of != s.n) {
		return fmt.Errorf("status: %d elements of %d, want %d of %d", st.Elements, st.Of, first, s.n)
	}
	return nil
}

// blockwise is a reduction of long vectors, of which each member gets a block.
func (s *callShape[T]) blockwise(ctx context.Context, how string, task func(opts ...collectives.Option) collectives.Task,
	blocking func(ctx context.Context, opts ...collectives.Option) (collectives.Status, error)) (_ *boundCall, err error) {
	if s.counts == nil {
		s.n /= s.size
		s.blocks = slices.Repeat([]int{s.n}, s.size)
	}
	if s.dst, s.src, err = s.takeBlocks(ctx); err != nil {
		return nil, err
	}
	s.inPlace = s.inPlace && s.counts == nil
	first := sumOf(s.blocks[:s.place])
	if s.inPlace {
		s.dst = s.src[first:][:s.n]
	}
	total, name, who := len(s.src), "ReduceScatter", upTo(s.size)
	if s.many {
		if s.more, err = buffer[T](ctx, s.ensemble, total); err != nil {
			return nil, err
		}
		name, who = "ReduceScatterMany", nil
		for i := range s.size {
			who = append(who, i, i+s.size)
		}
	}
	fill := func(run uint64) {
		s.contribute(run)
		copy(s.more, s.of(run, s.place+s.size, len(s.more)))
	}
	check := func(run uint64, _ collectives.Status) error {
		if err := same("the second source", s.more, s.of(run, s.place+s.size, len(s.more))); err != nil {
			return err
		}
		return same("dst", s.dst, s.sum(run, who, total)[first:first+len(s.dst)])
	}
	return s.finishing(s.call(fmt.Sprintf("%s%s, %s, in place %v,", name, s.v(), how, s.inPlace), fill, check), task, blocking)
}

// drawMany draws whether a call has a second source. The operation is then one that is exact with twice as
// many; a function is any.
func (s *callShape[T]) drawMany() {
	if s.many = s.plan.IntN(3) == 0; s.many && len(s.a.ops) > 0 {
		s.op = s.a.ops[0]
	}
}

// sources are the sources of a call with a second one.
func (s *callShape[T]) sources() [][]T { return [][]T{s.src, s.more} }

func reduceScatter[T number](ctx context.Context, s *callShape[T]) (*boundCall, error) {
	s.drawMany()
	if s.counts != nil {
		return s.blockwise(ctx, s.op.String(), func(opts ...collectives.Option) collectives.Task {
			if s.many {
				return collectives.ReduceScatterManyVTask(s.team, s.dst, s.sources(), s.counts, s.op, opts...)
			}
			return collectives.ReduceScatterVTask(s.team, s.dst, s.src, s.counts, s.op, opts...)
		}, nil)
	}
	return s.blockwise(ctx, s.op.String(),
		func(opts ...collectives.Option) collectives.Task {
			if s.many {
				return collectives.ReduceScatterManyTask(s.team, s.dst, s.sources(), s.op, opts...)
			}
			return collectives.ReduceScatterTask(s.team, s.dst, s.src, s.op, opts...)
		},
		func(ctx context.Context, opts ...collectives.Option) (collectives.Status, error) {
			if s.many {
				return silent(collectives.ReduceScatterMany(ctx, s.team, s.dst, s.sources(), s.op, opts...))
			}
			return silent(collectives.ReduceScatter(ctx, s.team, s.dst, s.src, s.op, opts...))
		})
}

// prefix checks a scan: the reduction of the first members, or what was there if there are none.
func (s *callShape[T]) prefix(members int) func(run uint64, _ collectives.Status) error {
	return func(run uint64, _ collectives.Status) error {
		if members == 0 {
			return same("buf", s.dst, s.of(run, s.place, s.n))
		}
		return same("buf", s.dst, s.sum(run, upTo(members), s.n))
	}
}

func scan[T number](s *callShape[T]) (*boundCall, error) {
	return s.finishing(s.call(fmt.Sprintf("Scan, %v,", s.op), s.input, s.prefix(s.place+1)),
		func(opts ...collectives.Option) collectives.Task {
			return collectives.ScanTask(s.dst, s.op, opts...)
		}, nil)
}

func exScan[T number](s *callShape[T]) (*boundCall, error) {
	return s.finishing(s.call(fmt.Sprintf("ExScan, %v,", s.op), s.input, s.prefix(s.place)),
		func(opts ...collectives.Option) collectives.Task {
			return collectives.ExScanTask(s.dst, s.op, opts...)
		}, nil)
}

// fold draws a reduction by a function of the program, which may depend on the order.
func (e *ensemble) fold(ctx context.Context) (*boundCall, error) {
	ordered := e.plan.IntN(2) == 0
	s := newShape(e, affines(ordered))
	fn := func(dst, a, b []affine) {
		for i := range dst {
			dst[i] = s.a.fold(0, a[i], b[i])
		}
	}
	if e.plan.IntN(5) == 0 {
		s.drawMany()
		return s.blockwise(ctx, fmt.Sprintf("by a function, ordered %v", ordered), func(opts ...collectives.Option) collectives.Task {
			if s.many {
				return collectives.ReduceScatterManyFuncTask(s.team, s.dst, s.sources(), fn, ordered, opts...)
			}
			return collectives.ReduceScatterFuncTask(s.team, s.dst, s.src, fn, ordered, opts...)
		}, nil)
	}
	if err := s.take(ctx, s.n, s.n); err != nil {
		return nil, err
	}
	name := fmt.Sprintf("Func, ordered %v,", ordered)
	switch e.plan.IntN(4) {
	case 0:
		return s.reduceFunc(fn, ordered)
	case 1:
		return s.finishing(s.call("Scan"+name, s.input, s.prefix(s.place+1)),
			func(opts ...collectives.Option) collectives.Task {
				return collectives.ScanFuncTask(s.dst, fn, ordered, opts...)
			}, nil)
	case 2:
		return s.finishing(s.call("ExScan"+name, s.input, s.prefix(s.place)),
			func(opts ...collectives.Option) collectives.Task {
				return collectives.ExScanFuncTask(s.dst, fn, ordered, opts...)
			}, nil)
	}
	return s.finishing(s.call("AllReduce"+name, s.input, s.summed),
		func(opts ...collectives.Option) collectives.Task {
			return collectives.AllReduceFuncTask(s.dst, fn, ordered, opts...)
		}, nil)
}

// reduceFunc is ReduceFunc of affine functions.
func (s *callShape[T]) reduceFunc(fn collectives.Func[T], ordered bool) (*boundCall, error) {
	check := func(run uint64, _ collectives.Status) error {
		if s.place != s.root {
			return same("buf of another member than the root", s.dst, s.of(run, s.place, s.n))
		}
		return same("buf of the root", s.dst, s.sum(run, upTo(s.size), s.n))
	}
	return s.finishing(s.call(fmt.Sprintf("ReduceFunc to %d, ordered %v,", s.root, ordered), s.input, check),
		func(opts ...collectives.Option) collectives.Task {
			return collectives.ReduceFuncTask(s.root, s.dst, fn, ordered, opts...)
		}, nil)
}
