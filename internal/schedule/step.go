package schedule

// A Buffer names memory of a rank.
type Buffer uint8

// Buffers. Extra(k) names further ones.
const (
	// Scratch is memory of the plan itself, as long at every rank, that peers may
	// always reach. It holds anything when a run begins.
	Scratch Buffer = iota
	// Flip is like Scratch, but there are two copies that consecutive runs use in
	// turns: whoever has heard of this run from a peer knows that the peer has
	// finished the last, and so the copy of the last but one is free.
	Flip
	// Eager is like Flip with more copies, which runs use in turns: see Depth. A writer
	// awaits credits, by which the owner gives copies back, and so runs ahead of its
	// readers, as by the eager protocol of MPI.
	Eager
	// In is what the rank contributes.
	In
	// Out is the rank's result.
	Out

	extra
)

// Extra is the k-th buffer, from 0, of a call with several local vectors.
func Extra(k int) Buffer { return extra + Buffer(k) }

// A Region is a range of a buffer of a rank, in elements.
type Region struct {
	Rank int32
	Buf  Buffer
	Off  int
	Len  int
}

// Part is the region of n elements from element off of r.
func (r Region) Part(off, n int) Region {
	if off < 0 || n < 0 || off+n > r.Len {
		panic("schedule: a part that leaves its region")
	}
	r.Off, r.Len = r.Off+off, n
	return r
}

// Overlaps reports whether the two share an element.
func (r Region) Overlaps(s Region) bool {
	return r.Rank == s.Rank && r.Buf == s.Buf && r.Len > 0 && s.Len > 0 && r.Off < s.Off+s.Len && s.Off < r.Off+r.Len
}

// A Kind is what a step does; the package comment says what each means.
type Kind uint8

// The kinds of steps.
const (
	Put     Kind = iota // Dst[0] at Peer, Src[0] here; posts Slot at Peer unless it is NoSlot
	Signal              // posts Slot at Peer
	Await               // Slot here, Count
	Combine             // Dst..., Src...; any of them may be at a peer that shares memory
	Encode              // Dst[0] gets the coded form of Src[0], for which it has room (CodedLen)
	Decode              // Dst[0] gets what Src[0] is the coded form of
	Flush
	Credit      // in the last run of a batch: a flush, then posts Slot at Peer
	AwaitCredit // in the first run of a batch: Slot here, of the run that used its last copy last
)

const (
	// NoSlot says that a put posts nothing.
	NoSlot = -1
	// FirstEagerSlot is the number of the first eager slot; those before it are plain.
	FirstEagerSlot = 1 << 30
)

// A Step is one thing that a rank does.
type Step struct {
	Kind  Kind
	Apart bool     // Put: Dst[0] has cache lines of its own; Await: Src[0] has, to which Peer puts what it posts
	Peer  int32    // Put, Signal, Credit, apart Await
	Slot  int32    // Put, Signal, Credit: at the peer; Await, AwaitCredit: here
	Count int32    // Await: how many posts in this run
	Dst   []Region // all of one length but for Encode
	Src   []Region
}

// A Lane is steps that happen in order.
type Lane []Step

// CopiesForPuts reports whether a lane begins with a copy of a vector to memory of the plan, and beside that has only
// puts of the copy and credits: the puts may as well take the vector.
func (l Lane) CopiesForPuts() bool {
	if len(l) < 2 || l[0].Kind != Combine || len(l[0].Src) != 1 || len(l[0].Dst) != 1 {
		return false
	}
	copied := l[0].Dst[0]
	if l[0].Src[0].Buf < In || copied.Buf >= In {
		return false
	}
	for i := range l[1:] {
		switch s := &l[1+i]; s.Kind {
		case AwaitCredit, Credit:
		case Put:
			if s.Src[0] != copied {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// A Schedule is what one rank does in a collective operation.
type Schedule struct {
	Rank, Size int
	Lanes      []Lane
	Slots      int // at every rank, numbered from 0
	Scratch    int // elements at every rank
	Flip       int // elements at every rank, in each of the two copies
	EagerSlots int // at every rank, numbered from FirstEagerSlot
	Eager      int // elements at every rank, in each of the copies

	stock *stock // that its steps are made of; nil if Build has not made it
}

// Exposes reports whether the rank touches memory of a peer that is none of the
// plan's own: the caller's buffers must then be where peers can reach them.
func (s *Schedule) Exposes() bool {
	return s.any(func(r Region) bool { return int(r.Rank) != s.Rank && r.Buf >= In })
}

// Shares reports whether the rank combines from or to memory of a peer without a
// put: the two must then share memory.
func (s *Schedule) Shares() bool {
	for _, lane := range s.Lanes {
		for i := range lane {
			if lane[i].Kind == Combine && lane[i].any(func(r Region) bool { return int(r.Rank) != s.Rank }) {
				return true
			}
		}
	}
	return false
}

// Posts reports whether steps of the kind post a slot at a peer; a Put may post none.
func (k Kind) Posts() bool { return k == Put || k == Signal || k == Credit }

// Coded are the regions that hold coded forms, whose puts are shorter than they
// look.
func (s *Schedule) Coded() []Region {
	var all []Region
	for _, lane := range s.Lanes {
		for i := range lane {
			switch lane[i].Kind {
			case Encode:
				all = append(all, lane[i].Dst[0])
			case Decode:
				all = append(all, lane[i].Src[0])
			}
		}
	}
	return all
}

// Steps is the number of steps of all lanes.
func (s *Schedule) Steps() int {
	n := 0
	for _, lane := range s.Lanes {
		n += len(lane)
	}
	return n
}

func (s *Schedule) any(f func(Region) bool) bool {
	for _, lane := range s.Lanes {
		for i := range lane {
			if lane[i].any(f) {
				return true
			}
		}
	}
	return false
}

func (s *Step) any(f func(Region) bool) bool {
	for _, r := range s.Dst {
		if f(r) {
			return true
		}
	}
	for _, r := range s.Src {
		if f(r) {
			return true
		}
	}
	return false
}

// CodedLen is the room, in elements, that the coded form of n elements needs: as
// many again and a header of one cache line, for contents that do not shrink.
func CodedLen(n, line int) int { return n + line }
