package collectives_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/collectives/internal/oracle"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/ranktest"
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
type room struct {
	plain, heap []byte
	own         *rand.Rand
	next        int
}

// take is a buffer of n elements of some bytes: in the heap at the same place on all members, which
// have up to longest.
func (m *room) take(n, longest, size int, allocated bool) []byte {
	at, all := m.next, m.heap
	m.next += longest + 1000
	if !allocated {
		at, all = at+m.own.IntN(1000), m.plain
	}
	return all[at*size : (at+n)*size]
}

// optional is a buffer as a member passes it that may leave it out.
func (m *room) optional(buf []byte, needed bool) []byte {
	if !needed && m.own.IntN(2) == 0 {
		return nil
	}
	return buf
}

// operands are a member's part in a call of elements of some bytes.
func (m *room) operands(t *collectives.Team, v *view, size int) *operands {
	me, members, lengths := t.Rank(), t.Size(), v.lengths
	o := &operands{team: t, op: v.op, root: v.root, rounds: 3, inPlace: placed(v.op, v.inPlace), counts: v.lengths, opts: v.opts}
	for i := range members {
		send, receive := v.count, v.count
		if v.op == schedule.AllToAll && lengths != nil {
			send, receive = lengths[me*members+i], lengths[i*members+me]
		}
		o.sends, o.receives = append(o.sends, send), append(o.receives, receive)
	}
	if v.op.Blockwise() && len(lengths) != members {
		lengths = slices.Repeat([]int{v.count}, members)
	}
	off, own, total := 0, 0, sumOf(lengths)
	if v.op.Blockwise() {
		off, own = sumOf(lengths[:me]), lengths[me]
	}
	longest := max(v.count, total, sumOf(v.lengths))
	in, out := o.lengths(v.count, own, total)
	m.next = 0
	take := func(n int) []byte { return m.take(n, longest, size, v.memory != plain) }
	aside := func(n int) []byte { return m.take(n, longest, size, v.memory == allocated) }
	part := func(long []byte) []byte { return long[off*size : (off+own)*size] }
	switch {
	case o.inPlace && o.op == schedule.ReduceScatter:
		o.src = take(in)
		o.dst = part(o.src)
	case o.inPlace:
		o.dst = take(out)
		if o.src = o.dst; o.op == schedule.AllGather {
			o.src = part(o.dst)
		}
	case o.op == schedule.Scatter, o.op == schedule.ReduceScatter:
		o.src, o.dst = take(in), aside(out)
	default:
		o.dst, o.src = take(out), aside(in)
	}
	for range v.vectors - 1 {
		o.more = append(o.more, aside(max(in, out)))
	}
	root := me == v.root || v.memory == allocated
	switch {
	case o.op == schedule.Scatter:
		o.src = m.optional(o.src, root)
	case o.op == schedule.Gather, o.op == schedule.Reduce && !o.inPlace:
		o.dst = m.optional(o.dst, root)
	}
	return o
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
	all := []bothKinds{bothOf[int8](), bothOf[float64](), bothOf[complex128]()}
	for i := range o.all {
		m := &room{plain: o.apart, heap: heap, own: own}
		kinds := all[r.IntN(len(all))]
		v := drawView(r, team.Size(), kinds.sum.size)
		o.all[i][team.Rank()], err = outline(ctx, team, v, m, kinds)
		if err != nil {
			return fmt.Errorf("call %d: %v: %w", i, v, err)
		}
		if team.Rank() == 0 {
			o.views[i] = v
		}
	}
	return p.Barrier(ctx, p.World())
}

// bothKinds are the kinds of one type.
type bothKinds struct{ sum, moved kind }

func bothOf[T collectives.Element]() bothKinds {
	return bothKinds{builtin(oracle.Elements[T]{}, collectives.Sum), moved(oracle.Elements[T]{})}
}

// task is a member's part in a call.
func (k bothKinds) task(ctx context.Context, t *collectives.Team, v *view, m *room) (collectives.Task, error) {
	of := k.moved
	if v.op.Reduces() {
		of = k.sum
	}
	return of.task(ctx, m.operands(t, v, of.size))
}

// outline is how a member plans a call. By chance, of its own, it has something explained before, of
// which the others know nothing.
func outline(ctx context.Context, team *collectives.Team, v *view, m *room, kinds bothKinds) (string, error) {
	nodes := v.nodes
	if nodes == nil {
		nodes = make([]int, team.Size())
	}
	collectives.PretendHosts(team, nodes)
	if m.own.IntN(3) == 0 && !v.op.Blockwise() {
		other := *v
		other.count, other.root = max(0, v.count-1+m.own.IntN(3)), m.own.IntN(team.Size())
		task, err := kinds.task(ctx, team, &other, m)
		if err != nil {
			return "", err
		}
		_, _ = collectives.Explain(team, task) // which may know no way
	}
	task, err := kinds.task(ctx, team, v, m)
	if err != nil {
		return "", err
	}
	return collectives.Outline(team, task), nil
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
