package prove

import (
	"fmt"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// A part is what some elements of a rank's result are the fold of.
type part struct {
	off, n int
	from   []schedule.Region
}

// parts is what an operation means for a rank: written once more, since package
// prove shall not judge itself.
func parts(b *schedule.Builder, c *schedule.Call) []part {
	me := b.Rank()
	fold := func(to, off, n int) []part {
		p := part{0, n, nil}
		for r := range to {
			if c.Op != schedule.Reduce || c.Engaged == nil || c.Engaged[r] {
				p.from = append(p.from, b.In(r, off, n))
			}
		}
		return []part{p}
	}
	one := func(off int, from schedule.Region) part { return part{off, from.Len, []schedule.Region{from}} }
	var all []part
	switch c.Op {
	case schedule.AllReduce:
		return fold(c.Size, 0, c.Count)
	case schedule.Reduce:
		if me == c.Root {
			return fold(c.Size, 0, c.Count)
		}
	case schedule.ReduceScatter:
		off, n := c.Block(me)
		return fold(c.Size, off, n)
	case schedule.Broadcast:
		return []part{one(0, b.In(c.Root, 0, c.Count))}
	case schedule.AllGather, schedule.Gather:
		for r := range c.Size {
			off, n := c.Block(r)
			if c.Op == schedule.AllGather || me == c.Root {
				all = append(all, one(off, b.In(r, 0, n)))
			}
		}
	case schedule.Scatter:
		off, n := c.Block(me)
		return []part{one(0, b.In(c.Root, off, n))}
	case schedule.AllToAll:
		for r := range c.Size {
			from, n := c.Sent(r, me)
			to, _ := c.Received(me, r)
			all = append(all, one(to, b.In(r, from, n)))
		}
	case schedule.Scan:
		return fold(me+1, 0, c.Count)
	case schedule.ExScan:
		return fold(me, 0, c.Count)
	case schedule.Exchange:
		for i := range c.Rounds {
			if p, ok := c.Partner(me, i); ok {
				s := schedule.Chunk(c.Count, c.Rounds, i)
				all = append(all, one(s.Off, b.In(p, s.Off, s.Len)))
			}
		}
	}
	return all
}

// pull does any operation: everybody reads what it needs into scratch and, when all
// have done so, stores the result.
func pull(b *schedule.Builder, c *schedule.Call) { pullWith(b, c, parts(b, c), func(int, int) {}) }

// pullWith is pull of some parts; after is called before each of the phases with
// its number and where the scratch for one vector more begins.
func pullWith(b *schedule.Builder, c *schedule.Call, all []part, before func(phase, spare int)) {
	me, longest := b.Rank(), 0
	for r := range c.Size {
		longest = max(longest, c.OutLen(r), c.InLen(r))
	}
	hold := b.Scratch(2 * longest)
	before(0, longest)
	meet(b, c)
	for _, p := range all {
		if len(p.from) > 0 {
			b.Combine(hold.At(me, p.off, p.n), p.from...)
		}
	}
	before(1, longest)
	meet(b, c)
	for _, p := range all {
		if len(p.from) > 0 {
			b.Copy(b.Out(me, p.off, p.n), hold.At(me, p.off, p.n))
		}
	}
	before(2, longest)
}

// meet lets all ranks wait for all.
func meet(b *schedule.Builder, c *schedule.Call) {
	s := b.Slots(c.Size)
	for r := range c.Size {
		if r != b.Rank() {
			b.Signal(r, s+b.Rank())
		}
	}
	for r := range c.Size {
		if r != b.Rank() {
			b.Await(s + r)
		}
	}
}

// shared allows all that there is.
func shared() Options { return Options{Shares: true, Exposes: true} }

func TestEveryOperation(t *testing.T) {
	for _, op := range schedule.Operations() {
		for _, p := range []int{1, 2, 3, 5} {
			for _, inPlace := range []bool{false, true} {
				for root := range p {
					if root > 0 && !op.Rooted() {
						continue
					}
					for _, c := range calls(op, p, root, inPlace) {
						t.Run(fmt.Sprintf("%v/%d/%d/%v/%d%v", op, p, root, inPlace, c.Count, c.Counts), func(t *testing.T) {
							opts := shared()
							opts.Ordered = true
							if err := checked(&c, pull, opts); err != nil {
								t.Error(err)
							}
						})
					}
				}
			}
		}
	}
}

// calls are calls of an operation with some counts, even and uneven.
func calls(op schedule.Operation, p, root int, inPlace bool) []schedule.Call {
	base := schedule.Call{Op: op, Size: p, Root: root, InPlace: inPlace, Line: 4, Rounds: 3}
	var all []schedule.Call
	for _, n := range []int{0, 1, 7} {
		c := base
		c.Count = n
		all = append(all, c)
	}
	if op == schedule.Reduce {
		c := base
		c.Count, c.Engaged = 3, make([]bool, p)
		all = append(all, c) // nobody contributes: the root's result is untouched
		c.Engaged = make([]bool, p)
		c.Engaged[p-1] = true
		all = append(all, c)
	}
	if op.Blockwise() {
		c := base
		for i := range p {
			c.Counts = append(c.Counts, (i*5+2)%4)
		}
		if op == schedule.AllToAll {
			for i := range p * (p - 1) {
				c.Counts = append(c.Counts, (i*3+1)%4)
			}
			c.InPlace = false // blocks of a pair need not be alike
		}
		all = append(all, c)
	}
	return all
}

func TestContents(t *testing.T) {
	call := func(op schedule.Operation) schedule.Call {
		return schedule.Call{Op: op, Size: 3, Count: 4, Line: 1, Rounds: 2}
	}
	// with is pull whose parts at rank 1 are changed.
	with := func(change func(b *schedule.Builder, p *part)) schedule.Emitter {
		return func(b *schedule.Builder, c *schedule.Call) {
			all := parts(b, c)
			if b.Rank() == 1 {
				change(b, &all[0])
			}
			pullWith(b, c, all, func(int, int) {})
		}
	}
	// then is pull, and something more of rank 1 before a phase.
	then := func(phase int, more func(b *schedule.Builder, spare schedule.Region)) schedule.Emitter {
		return func(b *schedule.Builder, c *schedule.Call) {
			pullWith(b, c, parts(b, c), func(at, spare int) {
				if b.Rank() == 1 && at == phase {
					more(b, schedule.Region{Rank: 1, Buf: schedule.Scratch, Off: spare, Len: spare})
				}
			})
		}
	}
	for _, c := range []struct {
		name    string
		call    schedule.Call
		ordered bool
		emit    schedule.Emitter
		want    []string // none if it is right
	}{
		{"a contribution is missing", call(schedule.AllReduce), false, with(func(b *schedule.Builder, p *part) { p.from = p.from[:2] }),
			[]string{"run 0 rank 1: 1:out[0:4] holds 0[0] + 1[0], not 0[0] + 1[0] + 2[0]; missing 2[0]"}},
		{"a contribution comes twice", call(schedule.AllReduce), false, with(func(b *schedule.Builder, p *part) { p.from = append(p.from, p.from[2]) }),
			[]string{"too many of 2[0]"}},
		{"one for another", call(schedule.AllReduce), false, with(func(b *schedule.Builder, p *part) { p.from[0] = p.from[2] }),
			[]string{"holds 2[0] + 1[0] + 2[0]", "missing 0[0]; too many of 2[0]"}},
		{"another order will do", call(schedule.AllReduce), false, with(func(b *schedule.Builder, p *part) { p.from[0], p.from[2] = p.from[2], p.from[0] }), nil},
		{"another order will not do", call(schedule.AllReduce), true, with(func(b *schedule.Builder, p *part) { p.from[0], p.from[2] = p.from[2], p.from[0] }),
			[]string{"holds 2[0] + 1[0] + 0[0], not 0[0] + 1[0] + 2[0]; the order is wrong"}},
		{"elements are shifted", call(schedule.AllReduce), false, with(func(b *schedule.Builder, p *part) {
			p.n--
			for i := range p.from {
				p.from[i] = p.from[i].Part(1, 3)
			}
		}), []string{"1:out[0:3] holds 0[1] + 1[1] + 2[1], not 0[0]"}},
		{"one is shifted", call(schedule.AllReduce), false, with(func(b *schedule.Builder, p *part) {
			p.n--
			for i := range p.from {
				p.from[i] = p.from[i].Part(min(i, 1), 3)
			}
		}), []string{"1:out[0:3] holds 0[0] + 1[1] + 2[1]"}},
		{"an element is left out", call(schedule.AllReduce), false, with(func(b *schedule.Builder, p *part) {
			p.n--
			for i := range p.from {
				p.from[i] = p.from[i].Part(0, 3)
			}
		}), []string{"1:out[3:4] holds what the caller left in 1:out[3], not 0[3]"}},
		{"of the last run", call(schedule.AllReduce), false, then(2, func(b *schedule.Builder, spare schedule.Region) {
			b.Combine(b.Out(1, 0, 1), b.Out(1, 1, 1))
		}), []string{"1:out[0:1] holds 0[1] + 1[1] + 2[1], not 0[0]"}},
		{"a contribution is changed", call(schedule.AllReduce), false, then(2, func(b *schedule.Builder, spare schedule.Region) {
			b.Copy(b.In(1, 2, 1), b.In(1, 3, 1))
		}), []string{"1:in[2:3] holds 1[3], not 1[2]"}},
		{"nobody's element is read", call(schedule.AllReduce), false, then(0, func(b *schedule.Builder, spare schedule.Region) {
			b.Copy(spare.Part(0, 1), spare.Part(1, 1))
		}), []string{"rank 1 lane 0 step 0 (copy scratch[4:5] = scratch[5:6]): reads 1:scratch[5:6], which holds anything: nobody has written it"}},
		{"the caller's rest is read", call(schedule.AllReduce), false, then(0, func(b *schedule.Builder, spare schedule.Region) {
			b.Copy(spare.Part(0, 1), b.Out(1, 0, 1))
		}), []string{"reads 1:out[0:1], which holds what the caller left there"}},
		{"exscan touches rank 0", call(schedule.ExScan), false, func(b *schedule.Builder, c *schedule.Call) {
			if pull(b, c); b.Rank() == 0 {
				b.Copy(b.Out(0, 1, 1), b.In(0, 1, 1))
			}
		}, []string{"rank 0: 0:out[1:2] holds 0[1], not what the caller left in 0:out[1]"}},
		{"exchange touches what has no partner", call(schedule.Exchange), false, then(2, func(b *schedule.Builder, spare schedule.Region) {
			b.Copy(b.Out(1, 3, 1), b.In(1, 3, 1))
		}), []string{"1:out[3:4] holds 1[3], not what the caller left in 1:out[3]"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			opts := shared()
			opts.Ordered = c.ordered
			err := checked(&c.call, c.emit, opts)
			if c.want != nil {
				refused(t, err, Contents, c.want...)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}

// TestNotYetWritten tests a reader who comes too early, but knows that it does:
// without a race it reads what the last run left, and in the first run nothing.
func TestNotYetWritten(t *testing.T) {
	// Rank 1 reads rank 0's scratch before rank 0 has filled it in this run, but
	// after it did so in the last: known to be complete, and old.
	refused(t, checked(&schedule.Call{Op: schedule.Broadcast, Size: 2, Count: 1}, func(b *schedule.Builder, c *schedule.Call) {
		hold, full, free := b.Scratch(2), b.Slots(1), b.Slots(1)
		if b.Rank() == 0 {
			b.Copy(hold.At(0, 0, 1), b.Out(0, 0, 1))
			b.Signal(1, full)
			b.Await(free)
			b.Copy(hold.At(0, 1, 1), hold.At(0, 0, 1))
			return
		}
		b.Await(full)
		b.Copy(b.Out(1, 0, 1), hold.At(0, 1, 1))
		b.Signal(0, free)
	}, Options{Shares: true, Runs: 3}), Contents, "run 0 rank 1", "nobody has written it")
}

func TestLocals(t *testing.T) {
	c := &schedule.Call{Op: schedule.AllReduce, Size: 3, Count: 5, InPlace: true, Line: 1}
	opts := shared()
	opts.Locals, opts.Ordered = 3, true
	if err := checked(c, schedule.Fan(3, pull), opts); err != nil {
		t.Error(err)
	}
	opts.Ordered = false
	refused(t, checked(c, schedule.Fan(2, pull), opts), Contents, "0.2[0]", "missing 0.2[0]")
	refused(t, checked(c, pull, opts), Contents, "missing 0.1[0], 0.2[0], 1.1[0], 1.2[0], 2.1[0], 2.2[0]")
}

func TestCoded(t *testing.T) {
	coded := func(change func(b *schedule.Builder, me int, code, plain schedule.Memory)) schedule.Emitter {
		return func(b *schedule.Builder, c *schedule.Call) {
			me, n := b.Rank(), schedule.CodedLen(c.Count, c.Line)
			code, plain := b.Scratch(n), b.Scratch(c.Count)
			credit, data := b.Slots(1), b.Slots(1)
			if me == 0 {
				b.Encode(code.At(0, 0, n), b.Out(0, 0, c.Count))
				b.Await(credit)
				b.Put(code.At(1, 0, n), code.At(0, 0, n), data)
				return
			}
			b.Signal(0, credit)
			b.Await(data)
			change(b, me, code, plain)
			b.Copy(b.Out(1, 0, c.Count), plain.At(1, 0, c.Count))
		}
	}
	call := func() *schedule.Call { return &schedule.Call{Op: schedule.Broadcast, Size: 2, Count: 4, Line: 2} }
	if err := checked(call(), coded(func(b *schedule.Builder, me int, code, plain schedule.Memory) {
		b.Decode(plain.At(1, 0, 4), code.At(1, 0, 6))
	}), Options{}); err != nil {
		t.Error(err)
	}
	refused(t, checked(call(), coded(func(b *schedule.Builder, me int, code, plain schedule.Memory) {
		b.Copy(plain.At(1, 0, 4), code.At(1, 0, 4))
	}), Options{}), Contents, "1:out[0:4] holds a coded form")
	refused(t, checked(call(), coded(func(b *schedule.Builder, me int, code, plain schedule.Memory) {
		b.Decode(plain.At(1, 0, 3), code.At(1, 0, 6))
	}), Options{}), Contents, "the source is not the coded form of 3 elements")
	refused(t, checked(call(), coded(func(b *schedule.Builder, me int, code, plain schedule.Memory) {
		b.Decode(plain.At(1, 0, 3), code.At(1, 1, 5))
	}), Options{}), Contents, "the source is not the coded form of 3 elements")
	refused(t, checked(call(), coded(func(b *schedule.Builder, me int, code, plain schedule.Memory) {
		b.Combine(plain.At(1, 0, 4), code.At(1, 0, 4), code.At(1, 2, 4))
	}), Options{}), Contents, "folds a coded form")
}
