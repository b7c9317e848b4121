package price

import (
	"fmt"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// A Program is the schedules of all ranks of a call, made ready to be priced on
// any number of machines. It is not changed by that; several goroutines may use it.
type Program struct {
	size, slots int   // slots of a rank, eager ones behind the others
	plain       int   // of them
	eager       int   // elements of a copy of eager memory
	nodes       []int // of the call, may be nil
	ops         []op  // of all lanes, one after the other
	lanes       []extent
	spared      []bool   // of each lane: the first step is not taken where vectors lie in segments
	ranks       []extent // of lanes
	stride      []int32  // posts that each slot of each rank gets in a run
	counts      []Rank   // of one run, bytes being elements; times are not set
	memory      []int    // elements of the buffers of each rank
	touches     []touch  // a rank reads or writes memory of another without a put
}

// A touch is the first step of a rank that combines from or to a peer's memory.
type touch struct{ rank, peer, lane, step int32 }

// An extent is a range of a longer list.
type extent struct{ first, end int32 }

// An op is a step with all that pricing it takes.
type op struct {
	kind    schedule.Kind
	coded   bool  // a put of a coded form
	data    bool  // a signal that tells of a put, which posts nothing itself
	joint   bool  // a signal right behind that put, with which it travels between nodes
	sources int16 // of a combine
	stores  int16 // destinations of a combine
	vectors int16 // sources and destinations of a combine that are not scratch
	peer    int32 // of a put or signal
	slot    int32 // among those of all ranks, or negative
	count   int32
	after   int32 // put of the lane to the same peer before this step, or -1
	n       int   // elements
}

// Compile makes the schedules of a call ready. build is called once for each rank,
// in their order, and what it returns is only read before the next call.
func Compile(c *schedule.Call, build func(rank int) *schedule.Schedule) (*Program, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	p := &Program{
		size: c.Size, nodes: c.Nodes, ranks: make([]extent, c.Size),
		counts: make([]Rank, c.Size), memory: make([]int, c.Size),
	}
	last, touched := make([]int32, c.Size), make([]int32, c.Size)
	for r := range c.Size {
		s := build(r)
		if s.Rank != r || s.Size != c.Size {
			return nil, fmt.Errorf("price: schedule of rank %d of %d where rank %d of %d was asked for", s.Rank, s.Size, r, c.Size)
		}
		if r == 0 {
			p.plain, p.slots, p.eager = s.Slots, s.Slots+s.EagerSlots, s.Eager
			p.stride = make([]int32, p.slots*c.Size)
			p.ops = make([]op, 0, s.Steps()*c.Size)
			p.lanes = make([]extent, 0, len(s.Lanes)*c.Size)
		}
		if s.Slots != p.plain || s.Slots+s.EagerSlots != p.slots {
			return nil, fmt.Errorf("price: rank %d has %d slots and %d eager ones, rank 0 has %d and %d",
				r, s.Slots, s.EagerSlots, p.plain, p.slots-p.plain)
		}
		if err := p.add(s, last, touched); err != nil {
			return nil, err
		}
		p.memory[r] = vectors(c, r) + s.Scratch + 2*s.Flip
	}
	return p, nil
}

// vectors is the elements of the vectors of a rank.
func vectors(c *schedule.Call, r int) int {
	in, out := c.InLen(r), c.OutLen(r)
	if c.InPlace || c.Op == schedule.Broadcast {
		return max(in, out)
	}
	return in + out
}

// add appends the lanes of one rank. last is room for the last put to each rank;
// touched has, for each rank, 1 + the last rank known to touch it.
func (p *Program) add(s *schedule.Schedule, last, touched []int32) error {
	coded := s.Coded()
	from := len(p.lanes)
	for i, lane := range s.Lanes {
		first := int32(len(p.ops))
		for r := range last {
			last[r] = -1
		}
		for j := range lane {
			o, err := p.op(s.Rank, &lane[j], coded)
			if err != nil {
				return fmt.Errorf("price: rank %d lane %d step %d (%s): %w", s.Rank, i, j, lane[j].Text(s.Rank), err)
			}
			if o.kind.Posts() {
				o.after = last[o.peer]
				o.data = o.after >= 0 && p.ops[o.after].slot < 0
				o.joint = o.data && o.kind == schedule.Signal && int(o.after) == len(p.ops)-1
			}
			if o.kind == schedule.Put {
				last[o.peer] = int32(len(p.ops))
			}
			if o.kind == schedule.Combine {
				p.touch(touch{rank: int32(s.Rank), lane: int32(i), step: int32(j)}, &lane[j], touched)
			}
			p.ops = append(p.ops, o)
		}
		p.lanes = append(p.lanes, extent{first, int32(len(p.ops))})
		p.spared = append(p.spared, len(s.Lanes) == 1 && lane.CopiesForPuts())
	}
	p.ranks[s.Rank] = extent{int32(from), int32(len(p.lanes))}
	return nil
}

// touch notes whose memory a combine touches for the first time.
func (p *Program) touch(t touch, s *schedule.Step, touched []int32) {
	for _, rs := range [2][]schedule.Region{s.Dst, s.Src} {
		for i := range rs {
			if t.peer = rs[i].Rank; t.peer != t.rank && touched[t.peer] != t.rank+1 {
				touched[t.peer] = t.rank + 1
				p.touches = append(p.touches, t)
			}
		}
	}
}

// op is one step, which it also counts.
func (p *Program) op(me int, s *schedule.Step, coded []schedule.Region) (op, error) {
	o := op{kind: s.Kind, peer: int32(me), slot: -1, after: -1}
	mine := &p.counts[me]
	switch s.Kind {
	case schedule.Put, schedule.Signal, schedule.Credit:
		if s.Peer < 0 || int(s.Peer) >= p.size {
			return o, fmt.Errorf("there is no rank %d", s.Peer)
		}
		o.peer = s.Peer
		if s.Kind == schedule.Signal {
			mine.Signals++
		}
		if s.Kind != schedule.Put {
			break
		}
		o.n = s.Src[0].Len
		for _, r := range coded {
			o.coded = o.coded || r.Overlaps(s.Src[0])
		}
		mine.Puts++
		if !o.coded { // the length of a coded form is the machine's to say
			mine.Sent += o.n
			p.counts[o.peer].Received += o.n
		}
	case schedule.Await:
		o.count = s.Count
	case schedule.Combine:
		o.n, o.sources, o.stores = s.Dst[0].Len, int16(len(s.Src)), int16(len(s.Dst))
		o.vectors = vectorsAmong(s.Src) + vectorsAmong(s.Dst)
		mine.Combined += (len(s.Src) - 1) * o.n
		mine.Copied += (len(s.Dst) - 1) * o.n
		if len(s.Src) == 1 {
			mine.Copied += o.n
		}
	case schedule.Encode:
		o.n = s.Src[0].Len
		mine.Coded += o.n
	case schedule.Decode:
		o.n = s.Dst[0].Len
		mine.Coded += o.n
	}
	return o, p.place(&o, s)
}

// vectorsAmong is how many regions are not scratch.
func vectorsAmong(regions []schedule.Region) (count int16) {
	for i := range regions {
		if regions[i].Buf != schedule.Scratch {
			count++
		}
	}
	return count
}

// place finds the slot of a step.
func (p *Program) place(o *op, s *schedule.Step) error {
	posts := s.Kind.Posts() && s.Slot != schedule.NoSlot
	if !posts && s.Kind != schedule.Await && s.Kind != schedule.AwaitCredit {
		return nil
	}
	number, most := int(s.Slot), p.plain
	if s.Slot >= schedule.FirstEagerSlot {
		number, most = number-schedule.FirstEagerSlot+p.plain, p.slots
	}
	if number < 0 || number >= most {
		return fmt.Errorf("there is no slot %d", s.Slot)
	}
	o.slot = o.peer*int32(p.slots) + int32(number)
	switch s.Kind {
	case schedule.Await:
		p.stride[o.slot] = max(p.stride[o.slot], s.Count)
	case schedule.AwaitCredit: // of which a run posts one at most
		p.stride[o.slot] = 1
	}
	return nil
}

// depth returns the depth of the eager memory with elements of so many bytes, among ranks that all
// share memory or do not.
func (p *Program) depth(element int, shared bool) schedule.Depth {
	return schedule.DepthOf(p.slots-p.plain, p.eager*element, schedule.EagerSlots, schedule.EagerBytes(shared))
}
