package collectives_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/ranktest"
	"github.com/gaspi-go/gaspi-go/internal/reduce"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/algorithms"
)

// A view is a call, alike on all members, of which each has its own part.
type view struct {
	op      schedule.Operation
	root    int
	count   int
	lengths []int // of blocks, or nil: one length
	inPlace bool
	memory  memory
	vectors int
	nodes   []int
	opts    []collectives.Option
	said    string // of opts
}

func (v *view) String() string {
	return fmt.Sprintf("%v, root %d, count %d, blocks %v, in place %v, memory %d, %d vectors, hosts %v, %s",
		v.op, v.root, v.count, v.lengths, v.inPlace, v.memory, v.vectors, v.nodes, v.said)
}

// edges are bytes about which choices change.
func edges() []int { return []int{64 << 10, 128 << 10, 512 << 10, 1 << 20} }

// edged is a length of a few elements, or about an edge.
func edged(r *rand.Rand, size int) int {
	switch r.IntN(6) {
	case 0:
		return 0
	case 1:
		return r.IntN(10)
	case 2:
		return r.IntN(5000)
	}
	all := edges()
	return max(0, all[r.IntN(len(all))]/size*(1+r.IntN(2))-1+r.IntN(3))
}

// skewed are lengths of n blocks, of which one or two may be long and some are nothing.
func skewed(r *rand.Rand, n, size int) []int {
	all := make([]int, n)
	for i := range all {
		switch r.IntN(4) {
		case 0, 1:
			all[i] = r.IntN(10)
		case 2:
			all[i] = r.IntN(1 + 32<<10/size/n)
		}
	}
	for range 1 + r.IntN(2) {
		all[r.IntN(n)] = edged(r, size)
	}
	return all
}

// drawView draws a call of so many members, of elements of so many bytes.
func drawView(r *rand.Rand, ranks, size int) *view {
	all := schedule.Operations()
	v := &view{
		op: all[r.IntN(len(all))], memory: memory(r.IntN(int(memories))), inPlace: r.IntN(2) == 0, vectors: 1, root: r.IntN(ranks),
	}
	v.count = edged(r, size)
	switch {
	case v.op == schedule.AllToAll:
		if v.count = min(v.count, 4<<20/size/ranks); r.IntN(2) == 0 {
			v.lengths = skewed(r, ranks*ranks, size)
			for i := range v.lengths {
				if from, to := i/ranks, i%ranks; v.inPlace && from < to {
					v.lengths[i] = v.lengths[to*ranks+from]
				}
			}
		}
	case v.op.Blockwise():
		if v.count = min(v.count, 8<<20/size/ranks); r.IntN(4) > 0 {
			v.lengths = skewed(r, ranks, size)
		}
	}
	if (v.op == schedule.AllReduce && v.inPlace || v.op == schedule.ReduceScatter) && r.IntN(4) == 0 {
		v.vectors = 2
	}
	if r.IntN(3) == 0 {
		v.nodes = make([]int, ranks)
		for i := range v.nodes {
			v.nodes[i] = i * 2 / ranks
		}
	}
	v.draw(r)
	return v
}

// draw draws options.
func (v *view) draw(r *rand.Rand) {
	add := func(said string, o collectives.Option) { v.opts, v.said = append(v.opts, o), v.said+" "+said }
	if each := algorithms.For(v.op); r.IntN(3) == 0 {
		a := each[r.IntN(len(each))]
		add(a.Name, collectives.Algorithm(a.Name))
		if a.Coded {
			add("lossless", collectives.Compress(collectives.Lossless()))
		}
	}
	if r.IntN(5) == 0 {
		add("concurrency 3", collectives.Concurrency(3))
	}
	if r.IntN(8) == 0 {
		add("radix 3", collectives.Radix(3))
	}
	if (v.op == schedule.Broadcast || v.op == schedule.Reduce) && r.IntN(3) == 0 {
		add("threshold 0.3", collectives.Threshold(0.3))
	}
	if v.op == schedule.Reduce && r.IntN(3) == 0 {
		add("processes 0.6", collectives.Processes(0.6))
	}
}

// room is memory for a member's buffers. Plain ones lie wherever it likes.
type room[T any] struct {
	plain, heap []T
	own         *rand.Rand
	next        int
}

// take is a buffer of n elements: in the heap at the same place on all members, which
// have up to longest.
func (m *room[T]) take(n, longest int, allocated bool) []T {
	at := m.next
	m.next += longest + 1000
	if !allocated {
		at += m.own.IntN(1000)
		return m.plain[at : at+n]
	}
	return m.heap[at : at+n]
}

// optional is a buffer as a member passes it that may leave it out.
func (m *room[T]) optional(buf []T, needed bool) []T {
	if !needed && m.own.IntN(2) == 0 {
		return nil
	}
	return buf
}

// task is a member's part in a call.
func task[T collectives.Element](ctx context.Context, t *collectives.Team, v *view, m *room[T]) (collectives.Task, error) {
	me, size, n := t.Rank(), t.Size(), v.count
	m.next = 0
	lengths := v.lengths
	if lengths == nil && v.op.Blockwise() {
		lengths = slices.Repeat([]int{n}, size)
	}
	off, own, total := 0, 0, sumOf(lengths)
	if v.op.Blockwise() && len(lengths) == size {
		off, own = sumOf(lengths[:me]), lengths[me]
	}
	longest := max(n, total)
	heap, other := v.memory != plain, v.memory == allocated
	take := func(n int) []T { return m.take(n, longest, heap) }
	aside := func(n int) []T { return m.take(n, longest, other) }
	root := me == v.root || v.memory == allocated
	switch v.op {
	case schedule.AllReduce:
		if v.vectors > 1 {
			return collectives.AllReduceManyTask([][]T{take(n), aside(n)}, collectives.Sum, v.opts...), nil
		} else if v.inPlace {
			return collectives.AllReduceTask(take(n), collectives.Sum, v.opts...), nil
		}
		return collectives.AllReduceIntoTask(take(n), aside(n), collectives.Sum, v.opts...), nil
	case schedule.Reduce:
		if v.inPlace {
			return collectives.ReduceTask(v.root, take(n), collectives.Sum, v.opts...), nil
		}
		return collectives.ReduceIntoTask(v.root, m.optional(take(n), root), aside(n), collectives.Sum, v.opts...), nil
	case schedule.Broadcast:
		return collectives.BroadcastTask(v.root, take(n), v.opts...), nil
	case schedule.Scan:
		return collectives.ScanTask(take(n), collectives.Sum, v.opts...), nil
	case schedule.ExScan:
		return collectives.ExScanTask(take(n), collectives.Sum, v.opts...), nil
	case schedule.Exchange:
		return collectives.ExchangeTask(take(n), m.take(n, longest, false), 3, v.opts...), nil
	case schedule.Barrier:
		return collectives.BarrierTask(v.opts...), nil
	case schedule.ReduceScatter:
		src := take(total)
		dst := src[off : off+own]
		if !v.inPlace {
			dst = aside(own)
		}
		switch {
		case v.vectors > 1 && v.lengths == nil:
			return collectives.ReduceScatterManyTask(t, dst, [][]T{src, aside(total)}, collectives.Sum, v.opts...), nil
		case v.vectors > 1:
			return collectives.ReduceScatterManyVTask(t, dst, [][]T{src, aside(total)}, lengths, collectives.Sum, v.opts...), nil
		case v.lengths == nil:
			return collectives.ReduceScatterTask(t, dst, src, collectives.Sum, v.opts...), nil
		}
		return collectives.ReduceScatterVTask(t, dst, src, lengths, collectives.Sum, v.opts...), nil
	}
	return move(ctx, t, v, m, lengths)
}

// move is task of an operation that only moves blocks.
func move[T collectives.Element](ctx context.Context, t *collectives.Team, v *view, m *room[T], lengths []int) (collectives.Task, error) {
	me, total := t.Rank(), sumOf(lengths)
	root := me == v.root || v.memory == allocated
	if v.op == schedule.AllToAll {
		return swap(ctx, t, v, m)
	}
	take := func(n int) []T { return m.take(n, total, v.memory != plain) }
	aside := func(n int) []T { return m.take(n, total, v.memory == allocated) }
	off, own := sumOf(lengths[:me]), lengths[me]
	switch v.op {
	case schedule.AllGather:
		dst := take(total)
		src := dst[off : off+own]
		if !v.inPlace {
			src = aside(own)
		}
		if v.lengths == nil {
			return collectives.AllGatherTask(t, dst, src, v.opts...), nil
		}
		return collectives.AllGatherVTask(t, dst, src, lengths, v.opts...), nil
	case schedule.Gather:
		dst := m.optional(take(total), root)
		if v.lengths == nil {
			return collectives.GatherTask(t, v.root, dst, aside(own), v.opts...), nil
		}
		return collectives.GatherVTask(t, v.root, dst, aside(own), lengths, v.opts...), nil
	}
	src := m.optional(take(total), root)
	if v.lengths == nil {
		return collectives.ScatterTask(t, v.root, aside(own), src, v.opts...), nil
	}
	return collectives.ScatterVTask(t, v.root, aside(own), src, lengths, v.opts...), nil
}

// swap is task of an AllToAll. Of blocks of different lengths it tells the others.
func swap[T collectives.Element](ctx context.Context, t *collectives.Team, v *view, m *room[T]) (collectives.Task, error) {
	me, size := t.Rank(), t.Size()
	longest := size * v.count
	sends, receives := make([]int, size), make([]int, size)
	for i := range size {
		sends[i], receives[i] = v.count, v.count
		if v.lengths != nil {
			sends[i], receives[i] = v.lengths[me*size+i], v.lengths[i*size+me]
		}
	}
	if v.lengths != nil {
		longest = sumOf(v.lengths)
	}
	src := m.take(sumOf(sends), longest, v.memory != plain)
	dst := src
	if !v.inPlace {
		dst = m.take(sumOf(receives), longest, v.memory == allocated)
	}
	if v.lengths == nil {
		return collectives.AllToAllTask(t, dst, src, v.opts...), nil
	}
	return collectives.AllToAllVTask(ctx, t, dst, receives, src, sends, v.opts...)
}

// TestMembersPlanAlike draws calls of every operation, each member having its own part:
// buffers, long or empty blocks, number of cores, and calls that it alone had explained
// before. All of them plan the same, to the last slot and byte of scratch, without a word
// from others.
func TestMembersPlanAlike(t *testing.T) {
	seed := seedOf(t)
	sizes := []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 33}
	if testing.Short() { // nothing is concurrent in a choice, and each member prices all ways
		sizes = []int{1, 2, 3, 5, 8}
	}
	for _, ranks := range sizes {
		t.Run(fmt.Sprintf("%d ranks", ranks), func(t *testing.T) {
			calls := 240
			switch {
			case testing.Short():
				calls = 12
			case ranks > 9:
				calls = 300 / ranks
			case ranks > 5:
				calls = 60
			}
			plans := newOutlines(ranks, calls)
			ranktest.Local(t, ranks, small, func(ctx context.Context, p *gaspi.Proc) error { return plans.make(ctx, p, seed) })
			plans.compare(t)
		})
	}
}

// outlines are what members plan, by call and member.
type outlines struct {
	views []*view
	all   [][]string
	apart []byte // plain memory of all members, which nobody reads or writes
}

func newOutlines(ranks, calls int) *outlines {
	o := &outlines{views: make([]*view, calls), all: make([][]string, calls), apart: make([]byte, 64<<20)}
	for i := range o.all {
		o.all[i] = make([]string, ranks)
	}
	return o
}

func (o *outlines) make(ctx context.Context, p *gaspi.Proc, seed uint64) error {
	machine := collectives.DefaultMachine()
	machine.Cores = 1 + int(p.Rank())%3
	team, err := collectives.NewTeam(ctx, p.World(), collectives.Config{Machine: &machine})
	if err != nil {
		return err
	}
	heap, err := collectives.Alloc[byte](ctx, team, 64<<20)
	if err != nil {
		return err
	}
	r := rand.New(rand.NewPCG(seed, uint64(team.Size())))
	own := rand.New(rand.NewPCG(seed, 1000+uint64(p.Rank())))
	for i := range o.all {
		var v *view
		switch r.IntN(3) {
		case 0:
			v, o.all[i][team.Rank()], err = outline(ctx, team, r, own, reduce.Of[int8](o.apart), reduce.Of[int8](heap))
		case 1:
			v, o.all[i][team.Rank()], err = outline(ctx, team, r, own, reduce.Of[float64](o.apart), reduce.Of[float64](heap))
		default:
			v, o.all[i][team.Rank()], err = outline(ctx, team, r, own, reduce.Of[complex128](o.apart), reduce.Of[complex128](heap))
		}
		if err != nil {
			return fmt.Errorf("call %d: %v: %w", i, v, err)
		}
		if team.Rank() == 0 {
			o.views[i] = v
		}
	}
	return p.Barrier(ctx, p.World())
}

// outline is how a member plans a call that r draws. By chance, of its own, it has
// something explained before, of which the others know nothing.
func outline[T collectives.Element](ctx context.Context, team *collectives.Team, r, own *rand.Rand, plain, heap []T) (*view, string, error) {
	size := len(reduce.BytesOf(plain[:1]))
	v := drawView(r, team.Size(), size)
	m := &room[T]{plain: plain, heap: heap, own: own}
	nodes := v.nodes
	if nodes == nil {
		nodes = make([]int, team.Size())
	}
	collectives.PretendHosts(team, nodes)
	if own.IntN(3) == 0 {
		other := *v
		other.count, other.root = max(0, v.count-1+own.IntN(3)), own.IntN(team.Size())
		if !v.op.Blockwise() {
			k, err := task(ctx, team, &other, m)
			if err != nil {
				return v, "", err
			}
			_, _ = collectives.Explain(team, k) // which may know no way
		}
	}
	k, err := task(ctx, team, v, m)
	if err != nil {
		return v, "", err
	}
	return v, collectives.Outline(team, k), nil
}

func (o *outlines) compare(t *testing.T) {
	t.Helper()
	for i, all := range o.all {
		for r, got := range all {
			if got != all[0] {
				t.Errorf("call %d: %v\nrank 0 plans %s\nrank %d plans %s", i, o.views[i], all[0], r, got)
				break
			}
		}
	}
}
