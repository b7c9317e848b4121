package threads

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/hoplite"
	"github.com/gaspi-go/gaspi-go/ssp"
)

// must and ok end the goroutine that calls them with an error; see guard.
func must[T any](v T, err error) T {
	ok(err)
	return v
}

func ok(err error) {
	if err != nil {
		panic(failure{err})
	}
}

type failure struct{ err error }

// check is ok for what was expected.
func check(holds bool, format string, args ...any) {
	if !holds {
		panic(failure{fmt.Errorf(format, args...)})
	}
}

// guard runs f and returns the error that ended it.
func guard(f func()) (err error) {
	defer func() {
		switch end := recover().(type) {
		case nil:
		case failure:
			err = end.err
		default:
			panic(end)
		}
	}()
	f()
	return nil
}

// A thread is one goroutine of a rank and what it may use. Goroutines with one number
// do the same on all members of its group, by a random generator that they share.
type thread struct {
	number int
	ctx    context.Context
	p      *gaspi.Proc
	random *rand.Rand
	group  *gaspi.Group // shared with others: the world, or one of random ranks
	alone  bool         // no other thread has a group of these ranks
	own    *gaspi.Group // of the same ranks, for this number
	me, n  int
	team   *collectives.Team
	held   [][]int64 // of Alloc
	doing  string
	mortal bool   // a rank ends itself in the middle
	die    func() // ends this one; nil if it is another
}

// plays are the things that a thread does, with how often.
var plays = []struct {
	name  string
	often int
	play  func(*thread)
}{
	{"team", 2, (*thread).playTeam},
	{"alloc", 4, (*thread).playAlloc},
	{"release", 3, (*thread).playRelease},
	{"allreduce", 6, (*thread).playAllReduce},
	{"alltoall", 2, (*thread).playAllToAll},
	{"reset", 1, (*thread).playReset},
	{"ssp", 2, (*thread).playReduction},
	{"store", 1, (*thread).playStore},
	{"segment", 4, (*thread).playSegment},
	{"any segment", 3, (*thread).playAnySegment},
	{"dup", 3, (*thread).playDup},
	{"commit", 3, (*thread).playCommit},
}

// play runs some goroutines for some rounds on this rank and returns the first error.
func play(ctx context.Context, p *gaspi.Proc, seed uint64, threads, rounds int) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	sets := subsets(p.Size(), seed)
	var first error
	var once sync.Once
	var all sync.WaitGroup
	for i := range threads {
		all.Go(func() {
			t := &thread{number: i, ctx: ctx, p: p, random: rand.New(rand.NewPCG(seed, uint64(i)))}
			if err := guard(func() { t.run(rounds, sets) }); err != nil {
				once.Do(func() { first = fmt.Errorf("goroutine %d, %s: %w", i, t.doing, err) })
				cancel()
			}
		})
	}
	all.Wait()
	if first != nil {
		return first
	}
	return p.Barrier(context.WithoutCancel(ctx), p.World())
}

// playToDeath is play of a job in which a rank ends itself in the middle: every goroutine of
// the others comes to an end, well or with an error that names the rank.
func playToDeath(ctx context.Context, p *gaspi.Proc, seed uint64, threads int, victim gaspi.Rank, die func()) error {
	sets := subsets(p.Size(), seed)
	errs := make([]error, threads)
	var all sync.WaitGroup
	for i := range threads {
		all.Go(func() {
			t := &thread{number: i, ctx: ctx, p: p, random: rand.New(rand.NewPCG(seed, uint64(i))), mortal: true}
			if p.Rank() == victim && i == 0 {
				t.die = die
			}
			err := guard(func() { t.run(200, sets) })
			if err != nil && !errors.Is(err, gaspi.ErrRankDead) {
				errs[i] = fmt.Errorf("goroutine %d, %s: %w", i, t.doing, err)
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

func (t *thread) run(rounds int, sets [][]gaspi.Rank) {
	t.doing = "begin"
	if !t.join(sets) {
		return
	}
	total := 0
	for _, x := range plays {
		total += x.often
	}
	for round := range rounds {
		if t.die != nil && round == 10 {
			t.die()
		}
		k := t.random.IntN(total)
		for _, x := range plays {
			if k -= x.often; k < 0 {
				t.doing = fmt.Sprintf("round %d, %s", round, x.name)
				x.play(t)
				break
			}
		}
	}
	t.doing = "end"
	t.endTeam()
	ok(t.p.Barrier(t.ctx, t.own))
	ok(t.own.Delete())
}

// join finds the group of the thread: the world for every other one, else some ranks. It
// returns false if this rank is not in it.
func (t *thread) join(sets [][]gaspi.Rank) bool {
	t.group = t.p.World()
	if k := t.number / 2; t.number%2 == 1 && k < len(sets) {
		if !slices.Contains(sets[k], t.p.Rank()) {
			return false
		}
		t.alone = true
		t.group = must(t.p.NewGroup(sets[k]...))
		ok(t.group.Commit(t.ctx))
	}
	t.own = must(t.group.Dup(t.ctx, t.tag()))
	t.me, _ = t.own.Rank()
	t.n = t.own.Size()
	return true
}

// subsets are the sets of two or more of n ranks but not all, in an order by seed.
// Groups of equal ranks match by their order, so each thread has a set for itself.
func subsets(n int, seed uint64) [][]gaspi.Rank {
	var sets [][]gaspi.Rank
	for bits := range uint(1)<<n - 1 {
		var set []gaspi.Rank
		for r := range n {
			if bits>>r&1 == 1 {
				set = append(set, gaspi.Rank(r))
			}
		}
		if len(set) >= 2 {
			sets = append(sets, set)
		}
	}
	random := rand.New(rand.NewPCG(seed, 99))
	random.Shuffle(len(sets), func(i, j int) { sets[i], sets[j] = sets[j], sets[i] })
	return sets
}

func (t *thread) tag() gaspi.Tag { return gaspi.Tag(t.number) }

// needTeam makes a team unless there is one.
func (t *thread) needTeam() *collectives.Team {
	if t.team == nil {
		t.team = must(collectives.NewTeam(t.ctx, t.group, collectives.Config{Tag: t.tag(), Scratch: 256 << 10, Slots: 4096}))
	}
	return t.team
}

func (t *thread) endTeam() {
	if t.team != nil {
		ok(collectives.Barrier(t.ctx, t.team))
		ok(t.p.Barrier(t.ctx, t.own)) // nobody is in the team's barrier any more
		ok(t.team.Close())
		t.team, t.held = nil, nil
	}
}

func (t *thread) playTeam() {
	t.endTeam()
	t.needTeam()
}

func (t *thread) playAlloc() {
	if len(t.held) == 3 {
		t.playRelease()
	}
	buf := must(collectives.Alloc[int64](t.ctx, t.needTeam(), 1+t.random.IntN(5000)))
	check(slices.Max(buf) == 0 && slices.Min(buf) == 0, "memory of Alloc is not zero")
	t.held = append(t.held, buf)
	t.reduce(buf)
}

func (t *thread) playRelease() {
	if len(t.held) == 0 {
		return
	}
	i := t.random.IntN(len(t.held))
	ok(collectives.Release(t.ctx, t.team, t.held[i]))
	t.held = slices.Delete(t.held, i, i+1)
}

// playAllReduce takes vectors of very different lengths, so that the arena grows.
func (t *thread) playAllReduce() {
	t.needTeam()
	if len(t.held) > 0 && t.random.IntN(2) == 0 {
		t.reduce(t.held[t.random.IntN(len(t.held))])
		return
	}
	t.reduce(make([]int64, 1+t.random.IntN(1<<t.random.IntN(15))))
}

// reduce fills buf, reduces it over the team, and looks at the result.
func (t *thread) reduce(buf []int64) {
	base := int64(t.random.IntN(1000)) + int64(t.number)<<32
	for i := range buf {
		buf[i] = base + int64(t.me*i)
	}
	ok(collectives.AllReduce(t.ctx, t.team, buf, collectives.Sum))
	for i, got := range buf {
		want := base*int64(t.n) + int64(i*t.n*(t.n-1)/2)
		check(got == want, "element %d of %d is %d, want %d", i, len(buf), got, want)
	}
}

func (t *thread) playAllToAll() {
	block := 1 + t.random.IntN(2000)
	src, dst := make([]int64, block*t.n), make([]int64, block*t.n)
	for i := range src {
		src[i] = int64(t.number<<40 | t.me<<20 | i/block)
	}
	ok(collectives.AllToAll(t.ctx, t.needTeam(), dst, src))
	for i, got := range dst {
		want := int64(t.number<<40 | i/block<<20 | t.me)
		check(got == want, "element %d is %x, want %x", i, got, want)
	}
}

func (t *thread) playReset() {
	if t.team != nil {
		ok(t.team.Reset(t.ctx))
	}
}

func (t *thread) playReduction() {
	n := 1 + t.random.IntN(500)
	r := must(ssp.New[int64](t.ctx, t.group, n, ssp.Sum, 0, ssp.WithTag(t.tag())))
	for call := range 3 {
		mine := slices.Repeat([]int64{int64(t.number*100 + t.me + call)}, n)
		got := must(r.AllReduce(t.ctx, mine)).Values
		want := int64(t.n*(t.number*100+call) + t.n*(t.n-1)/2)
		check(slices.Max(got) == want && slices.Min(got) == want, "got %d to %d, want %d", slices.Min(got), slices.Max(got), want)
	}
	ok(r.Close(t.ctx))
}

func (t *thread) playStore() {
	if t.mortal {
		return // a store goes on without the dead, and a Get waits for who has the object
	}
	s := must(hoplite.Open(t.ctx, t.group, hoplite.Config{
		Capacity: 256 << 10, Slots: 8, Tag: t.tag(), Links: hoplite.Links{Latency: 1e-6, Bandwidth: 1e9},
	}))
	n := 1 + t.random.IntN(4000)
	name := func(member int) string { return fmt.Sprintf("%d of %d", member, t.number) }
	ok(hoplite.Put(t.ctx, s, name(t.me), slices.Repeat([]int32{int32(t.number*1000 + t.me)}, n)))
	from := (t.me + 1) % t.n
	got := must(hoplite.Get[int32](t.ctx, s, name(from)))
	want := int32(t.number*1000 + from)
	check(len(got) == n && slices.Max(got) == want && slices.Min(got) == want, "object of member %d: %d elements, the first %d", from, len(got), got[0])
	ok(s.Close(t.ctx))
}

// playSegment creates a segment over the shared group, under an id that only this
// number uses. Others do at the same time, in another order at each rank.
func (t *thread) playSegment() { t.useSegment(gaspi.SegmentID(t.number)) }

func (t *thread) playAnySegment() { t.useSegment(gaspi.AnySegment) }

// useSegment creates a segment, sends something through it, and deletes it.
func (t *thread) useSegment(id gaspi.SegmentID) {
	size := 64 * uint64(1+t.random.IntN(100))
	s := must(t.p.CreateSegment(t.ctx, id, size, gaspi.Over(t.group), gaspi.WithNotifications(4), gaspi.WithTag(t.tag())))
	words := must(gaspi.View[uint64](s, 0, 8))
	check(words[0] == 0, "segment %d begins with %d", s.ID(), words[0])
	words[0] = uint64(t.number)<<32 | uint64(t.me)
	next := t.own.Ranks()[(t.me+1)%t.n]
	q := t.p.MustQueue(t.number % 8)
	for {
		err := q.WriteNotify(s.At(next, 8), must(s.Span(0, 8)), gaspi.Notification{ID: 1, Value: 1})
		if err != gaspi.ErrQueueFull {
			ok(err)
			break
		}
		ok(q.Wait(t.ctx))
	}
	must(s.WaitSome(t.ctx, 1, 1))
	want := uint64(t.number)<<32 | uint64((t.me+t.n-1)%t.n)
	check(words[1] == want, "got %x through segment %d, want %x", words[1], s.ID(), want)
	ok(q.Wait(t.ctx))
	ok(t.p.Barrier(t.ctx, t.own))
	ok(s.Delete())
}

func (t *thread) playDup() {
	g := must(t.group.Dup(t.ctx, t.tag()))
	t.sum(g)
	ok(g.Delete())
}

// sum makes sure that a group is one of its own.
func (t *thread) sum(g *gaspi.Group) {
	me, _ := g.Rank()
	x := []int64{int64(t.number), int64(me)}
	ok(gaspi.AllReduce(t.ctx, g, x, x, gaspi.Sum))
	n := int64(g.Size())
	check(x[0] == n*int64(t.number) && x[1] == n*(n-1)/2, "sums %v over %v", x, g.Ranks())
	ok(t.p.Barrier(t.ctx, g))
}

// playCommit commits another group of the ranks that no other thread has a group of,
// while others commit groups that share some of them.
func (t *thread) playCommit() {
	if !t.alone {
		return
	}
	g := must(t.p.NewGroup(t.own.Ranks()...))
	ok(g.Commit(t.ctx))
	t.sum(g)
	ok(g.Delete())
}
