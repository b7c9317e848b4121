package core

import (
	"encoding/binary"
	"slices"
)

// The caller of a reduction has ranks that share its memory, only lend their sources and wait for the target, fold chunks
// for it, straight into the target. A chunk is written, not added to, so that it can be folded again.

// sharesAhead is how many chunks a rank has that folds for another: the next is there when one is done.
const sharesAhead = 2

// leastShared is how many chunks an object has of which others fold some. To wait for the last takes as long as a few
// do.
const leastShared = 8

// leastPiece is the least chunk in bytes of a target that several ranks fold: a message to fold it takes as long as to
// fold a tenth.
const leastPiece = 64 << 10

// chunkOf is how many bytes of a job are folded at a time: less than of other objects where several ranks fold a short
// one.
func (c *Core) chunkOf(j *reductionNode) int64 {
	if len(j.helpers) == 0 {
		return c.cfg.Chunk
	}
	return min(c.cfg.Chunk, max(leastPiece, j.size/(2*leastShared)/c.cfg.Align*c.cfg.Align))
}

// A chunk is [at, at+n) of what a job makes.
type chunk struct{ at, n int64 }

// A lease is a chunk that another rank folds. The memory of the target stays until it has said that it has.
type lease struct {
	job    *reductionNode // nil if it has ended
	target *object
	to     Rank
	part   chunk
}

// A task is a chunk that this rank folds for another. Tasks are done one by one, so that the owner of one hears of it
// before the next begins.
type task struct {
	owner Rank
	ref   uint64 // the owner's name for it
	fold  Command
	copy  *object // gets the chunk, too; nil if none does
}

// helpersOf returns the ranks that may fold chunks of the target: those of inputs that are nothing but a source
// there. All inputs must lie where this rank can read them; it is then taken that all ranks of the host can.
func (c *Core) helpersOf(r *reduction, ins []In) []Rank {
	if c.cfg.ShareFrom == 0 || r.size < c.cfg.ShareFrom {
		return nil
	}
	var ranks []Rank
	for _, in := range ins {
		if !c.near(in.Rank) {
			return nil
		}
		if len(r.places[in.Position].ins) == 0 && !slices.Contains(ranks, in.Rank) {
			ranks = append(ranks, in.Rank)
		}
	}
	return ranks
}

// take returns the next chunk to fold, of which n is 0 if there is none up to limit.
func (c *Core) take(j *reductionNode, limit int64) chunk {
	if k := len(j.again); k > 0 {
		p := j.again[k-1]
		j.again = j.again[:k-1]
		return p
	}
	p := chunk{j.next, max(0, min(c.chunkOf(j), limit-j.next))}
	j.next += p.n
	return p
}

// share has helpers fold what can be folded up to limit.
func (c *Core) share(j *reductionNode, limit int64) {
	if j.size < leastShared*c.chunkOf(j) || !j.inOneFold() {
		return
	}
	for _, to := range j.helpers {
		for gets(j.out, to) && c.leases(j, to) < sharesAhead {
			p := c.take(j, limit)
			if p.n == 0 {
				return
			}
			ref := c.next()
			c.lent[ref] = &lease{j, j.out, to, p}
			j.out.serve.leases++
			m := Share{Ref: ref, Op: j.op, Off: j.out.mem.off + p.at, Size: p.n}
			if also, out := c.also(j, p.at); out != nil {
				m.Also, m.Twice, m.Slot, m.Seq = also.Off, true, out.slot, out.seq
			}
			for _, o := range c.operands(j, p.at) {
				m.From = binary.LittleEndian.AppendUint32(m.From, uint32(o.Rank))
				m.From = binary.LittleEndian.AppendUint64(m.From, uint64(o.Off))
			}
			c.send(to, m.message())
		}
	}
}

// inOneFold reports whether chunks are made by one OpFold each.
func (j *reductionNode) inOneFold() bool { return len(j.bytes) == 0 && len(j.ins)+len(j.own) > 1 }

// gets reports whether a rank is sent an object that it gets, or is lent it. Such a rank has nothing else to do; the
// others would have to be woken, and their programs may want their cores.
func gets(o *object, to Rank) bool {
	return slices.ContainsFunc(o.serve.outs, func(out *outgoing) bool { return out.to == to && !out.stream && !out.stopping })
}

// leases counts the chunks of a job that a rank has.
func (c *Core) leases(j *reductionNode, to Rank) int {
	n := 0
	for _, l := range c.lent {
		if l.job == j && l.to == to {
			n++
		}
	}
	return n
}

// onShare folds a chunk for another rank.
func (c *Core) onShare(from Rank, m Share) {
	t := task{owner: from, ref: m.Ref, fold: Command{Op: OpFold, Peer: from, Off: m.Off, Len: m.Size, Fold: m.Op}}
	can := c.near(from)
	for b := m.From; len(b) >= operandSize; b = b[operandSize:] {
		o := Operand{Rank(binary.LittleEndian.Uint32(b)), int64(binary.LittleEndian.Uint64(b[4:]))}
		t.fold.From = append(t.fold.From, o)
		can = can && (o.Rank == c.cfg.Rank || c.near(o.Rank) && !c.dead[o.Rank])
	}
	if !can {
		c.send(from, Shared{Ref: m.Ref, Code: Gone}.message())
		return
	}
	if m.Twice && c.Expects(m.Slot, m.Seq) {
		t.copy = c.slots[m.Slot]
		t.copy.serve.leases++
		t.fold.Twice, t.fold.Also = true, Operand{c.cfg.Rank, m.Also}
	}
	number := c.next()
	c.tasks[number] = t
	c.todo = append(c.todo, number)
	c.nextTask()
}

// nextTask begins the next task if none is under way.
func (c *Core) nextTask() {
	for c.doing == 0 && len(c.todo) > 0 {
		number := c.todo[0]
		c.todo = c.todo[1:]
		if t, ok := c.tasks[number]; ok {
			c.doing = number
			c.command(t.fold)
			c.command(Command{Op: OpReport, Transfer: number})
		}
	}
}

// endTask forgets a task, and tells its owner how it has ended.
func (c *Core) endTask(number uint64, code Code) {
	t := c.tasks[number]
	delete(c.tasks, number)
	c.send(t.owner, Shared{Ref: t.ref, Code: code}.message())
	if t.copy != nil {
		t.copy.serve.leases--
		c.freeIdle(t.copy)
	}
	if c.doing == number {
		c.doing = 0
		c.nextTask()
	}
}

// operandSize is how many bytes of Share.From an operand takes.
const operandSize = 12

// hasShared ends a task that is done, and reports whether number is that of one.
func (c *Core) hasShared(number uint64) bool {
	_, ok := c.tasks[number]
	if ok {
		c.endTask(number, OK)
	}
	return ok
}

// onShared goes on with a job of which another rank has folded a chunk, or cannot.
func (c *Core) onShared(m Shared) {
	l := c.lent[m.Ref]
	if l == nil {
		return
	}
	j := c.endLease(m.Ref, l)
	switch {
	case j == nil:
	case m.Code == OK:
		c.folded(j, l.part)
	default:
		j.helpers = slices.DeleteFunc(j.helpers, func(r Rank) bool { return r == l.to })
		j.again = append(j.again, l.part)
		c.step(j)
	}
}

// endLease forgets a lease, and returns its job if that has not ended.
func (c *Core) endLease(ref uint64, l *lease) *reductionNode {
	delete(c.lent, ref)
	l.target.serve.leases--
	if l.job == nil {
		c.freeIdle(l.target)
	}
	return l.job
}

// sharesAfter ends what a dead rank has to do with chunks. Those that it had are folded again, with all of the job,
// which it had an input of. Those that it is read for are not folded here.
func (c *Core) sharesAfter(d Rank) {
	for _, ref := range sortedKeys(c.lent) {
		if l := c.lent[ref]; l.to == d {
			c.endLease(ref, l)
		}
	}
	for _, number := range sortedKeys(c.tasks) {
		t := c.tasks[number]
		if t.owner == d || slices.ContainsFunc(t.fold.From, func(o Operand) bool { return o.Rank == d }) {
			c.endTask(number, Gone)
		}
	}
}
