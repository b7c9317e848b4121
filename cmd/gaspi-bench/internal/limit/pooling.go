package limit

import (
	"context"

	"github.com/gaspi-go/gaspi-go/internal/sys/cpu"
	"github.com/gaspi-go/gaspi-go/segment"
)

// pooling is a collective operation by ranks whose vectors nobody else reaches:
// each gives what others need, copying it to boxes that all reach, folds what is its
// to fold into its own vector and, where it is for others, into a box, and takes
// from there what others folded for it. That goes in rounds, each of a short part
// of every move, so that boxes stay in near caches.
type pooling struct {
	*worker
	b    *Memory
	pool *pool
	way  poolWay

	rounds  int
	layouts []boxLayout // of each rank
	gives   []passage   // from this rank's vector to its boxes
	folds   []sum
	takes   []passage // from boxes of others to its vector
	to      [][]byte  // what a fold writes

	// Flags of others that this rank sets and its own flags that they set, each to the number
	// of a round whose parts were given, folded or taken.
	tellGave, tellFolded, tellTook []Flag
	given, folded, used, took      []Flag
}

// A poolWay is one of the ways to cut a call into rounds.
type poolWay struct {
	moves func(rank int) []Move
	part  int  // bytes of each move in a round
	ahead int  // rounds by which gifts are ahead of folds, and those of takings
	back  bool // who folds what a rank gave for it puts the result in its place
}

// slots is how many rounds have boxes of their own. A rank that writes to a box finds that all
// have read it, unless one is late; a box that came back has been read.
func (w poolWay) slots() int {
	if w.back && w.ahead == 0 {
		return 1
	}
	return 2 << w.ahead
}

// A pool is the boxes of all ranks, for all ways.
type pool struct {
	mem    [][]byte // of each rank
	rounds uint64   // of all calls, so that flags never go back
	last   *pooling // who called last
	since  uint64   // rounds before it called first
}

// A passage is a copy between a vector and a box, which is there once for each slot.
type passage struct {
	own []byte
	box [][]byte
}

// A sum is a move as rounds do it.
type sum struct {
	n        int // bytes in all rounds
	dst, src operands
	back     bool // it is of two, and goes back to the box that one of them is in
	late     bool // it is of more, and goes only to such boxes
}

// operands are a rank's own vectors, if any, and then boxes.
type operands struct {
	own   [][]byte
	boxes [][][]byte
}

// appendTo adds n bytes from byte at of each operand in a round that begins at byte
// from of vectors.
func (o *operands) appendTo(all [][]byte, from, slot, at, n int) [][]byte {
	for _, own := range o.own {
		all = append(all, own[from+at:from+at+n])
	}
	for _, box := range o.boxes {
		all = append(all, box[slot][at:at+n])
	}
	return all
}

// call is the operation, once.
func (p *pooling) call(ctx context.Context) error {
	if p.pool.last != p { // all have met since, so that nobody reads a box any more
		p.pool.last, p.pool.since = p, p.pool.rounds
	}
	for i := range p.rounds + 2*p.way.ahead {
		if err := p.give(ctx, i); err != nil {
			return err
		}
		if err := p.foldRound(ctx, i-p.way.ahead); err != nil {
			return err
		}
		if err := p.take(ctx, i-2*p.way.ahead); err != nil {
			return err
		}
	}
	p.pool.rounds += uint64(p.rounds)
	return nil
}

// at is the number of round i of a call and its slot, and whether there is one.
func (p *pooling) at(i int) (number uint32, slot int, ok bool) {
	c := Counter{p.pool.rounds + uint64(i) + 1}
	return c.Last(), int(c.n) & (p.way.slots() - 1), i >= 0 && i < p.rounds
}

// free waits until those who raise all have read what a slot held before round i.
func (p *pooling) free(ctx context.Context, all []Flag, i int) error {
	before := p.pool.rounds + uint64(i) + 1 - uint64(p.way.slots())
	if int64(before-p.pool.since) <= 0 {
		return nil
	}
	c := Counter{before}
	return p.b.awaitAll(ctx, all, c.Last())
}

// span is what round i does of n bytes.
func (p *pooling) span(n, i int) (from, count int) {
	from = min(n, i*p.way.part)
	return from, min(n-from, p.way.part)
}

func raiseAll(all []Flag, v uint32) {
	for _, f := range all {
		Raise(f, v)
	}
}

func (p *pooling) give(ctx context.Context, i int) error {
	number, slot, ok := p.at(i)
	if !ok {
		return nil
	}
	if err := p.free(ctx, p.used, i); err != nil {
		return err
	}
	for k := range p.gives {
		g := &p.gives[k]
		if from, n := p.span(len(g.own), i); n > 0 {
			segment.Copy(g.box[slot][:n], g.own[from:from+n])
		}
	}
	raiseAll(p.tellGave, number)
	return nil
}

func (p *pooling) foldRound(ctx context.Context, i int) error {
	number, slot, ok := p.at(i)
	if !ok {
		return nil
	}
	if err := p.b.awaitAll(ctx, p.given, number); err != nil {
		return err
	}
	if err := p.free(ctx, p.took, i); err != nil {
		return err
	}
	for k := range p.folds {
		s := &p.folds[k]
		from, n := p.span(s.n, i)
		if s.back {
			p.twice(s.dst.own[0][from:from+n], s.dst.boxes[0][slot][:n], s.src.own[0][from:from+n], s.dst.boxes[0][slot][:n])
			continue
		}
		for at := 0; at < n; at += workBlock {
			p.foldPart(s, from, slot, at, min(workBlock, n-at))
		}
	}
	raiseAll(p.tellFolded, number)
	return nil
}

// foldPart stores n bytes of a fold everywhere, while they are in the nearest
// cache.
func (p *pooling) foldPart(s *sum, from, slot, at, n int) {
	p.part = s.src.appendTo(p.part[:0], from, slot, at, n)
	p.to = s.dst.appendTo(p.to[:0], from, slot, at, n)
	result := p.part[0]
	if len(p.part) > 1 {
		if result = p.to[0]; s.late {
			result = p.temp[:n]
		}
		p.Fold(result, p.part)
	}
	for _, d := range p.to {
		if !same(d, result) {
			segment.Copy(d, result)
		}
	}
}

func (p *pooling) take(ctx context.Context, i int) error {
	number, slot, ok := p.at(i)
	if !ok {
		return nil
	}
	if err := p.b.awaitAll(ctx, p.folded, number); err != nil {
		return err
	}
	for k := range p.takes {
		t := &p.takes[k]
		if from, n := p.span(len(t.own), i); n > 0 {
			cpu.CopyAhead(t.own[from:from+n], t.box[slot][:n])
		}
	}
	raiseAll(p.tellTook, number)
	return nil
}
