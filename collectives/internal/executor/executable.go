package executor

import (
	"github.com/gaspi-go/gaspi-go/collectives/internal/codec"
	"github.com/gaspi-go/gaspi-go/collectives/internal/memory"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/reduce"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/segment"
	"math/bits"
)

// A Binding is a schedule, and what Compile binds it to. Places are the same at every member.
type Binding struct {
	Schedule *schedule.Schedule // of this member
	Element  codec.Element
	Folds    Folds                // of the operation; zero if there is none, or it is the program's
	Extra    int                  // further buffers of the caller
	Depth    schedule.Depth       // of eager memory, in powers of two; not used if there is none
	Slot     gaspi.NotificationID // the first of as many as Notifications says
	Scratch  Base                 // of as many bytes as Room says
	In, Out  Base                 // of the caller's buffers; zero where peers cannot reach them
	Compress codec.Method         // by which forms are coded
	Remember bool                 // in the next run what coding has lost in this one
}

// A Base is where memory begins: a segment, and a byte in it.
type Base struct {
	Segment *gaspi.Segment
	Offset  uint64
}

// Folds are the kernels of an operation: of two operands, of many, and of two into two places.
type Folds struct {
	Two   reduce.Kernel
	Many  reduce.Fold
	Twice reduce.Twice
}

// CacheLine is the bytes of a cache line, at multiples of which the copies of flip memory begin.
const CacheLine = 64

// Room returns how many bytes of scratch a schedule needs, with elements of size bytes and eager
// memory of a depth.
func Room(s *schedule.Schedule, size int, d schedule.Depth) uint64 {
	scratch, flip, eager := room(s, size)
	return scratch + 2*flip + uint64(d.Copies)*eager
}

// room returns the bytes of the scratch of a schedule, of each copy of its flip memory, which lie
// behind it, and of each copy of its eager memory, which lie behind those.
func room(s *schedule.Schedule, size int) (scratch, flip, eager uint64) {
	whole := func(n int) uint64 { return memory.RoundUp(uint64(n*size), CacheLine) }
	return whole(s.Scratch), whole(s.Flip), whole(s.Eager)
}

// Notifications returns how many notifications a schedule needs, with eager memory of a depth.
func Notifications(s *schedule.Schedule, d schedule.Depth) int {
	return s.Slots + s.EagerSlots*d.Copies
}

// notesPerLine is how many notifications a cache line has.
const notesPerLine = CacheLine / 4

// spread finds out how many lines the notifications of an eager slot fill.
func (x *Executable) spread() { x.lines = max(0, bits.Len32(x.copies)-bits.Len(notesPerLine-1)) }

// copyNote returns which of the notifications of an eager slot that of a copy is. Notifications of runs that follow
// each other lie in several lines, so that a sender that is a run ahead writes to no line that the receiver
// looks at.
func (x *Executable) copyNote(number uint32) gaspi.NotificationID {
	return gaspi.NotificationID(number&(1<<x.lines-1)*notesPerLine + number>>x.lines)
}

// An Executable is a schedule that is bound to memory and notifications, for Executions to carry
// out. The zero Executable has no lanes, and ends as soon as it begins.
type Executable struct {
	lanes    []lane
	runs     uint32          // begun so far
	puts     bool            // sources are borrowed until a wait for the queue
	inlined  operand         // of puts that are inline: their data, in a buffer of the caller
	starts   []start         // of the first puts of a run to mapped memory
	folds    Folds           // zero if the operation is the program's
	block    int             // bytes of a fold into several places
	ahead    int             // the same of one that asks for what it needs
	operands [][]byte        // by operand.mem; the first are the caller's buffers
	buffers  int             // so many of them
	slot     uint32          // notification of slot 0
	plain    uint32          // slots before the eager ones
	board    gaspi.SegmentID // whose notifications are posted
	sources  []gaspi.Span    // of puts, each in all copies
	works    []work          // of folds, encodes and decodes
	parts    []operand       // of works
	turns    [rotations]turn
	copies   uint32        // of eager memory, less 1; 0 if there is none
	lines    int           // logarithm of the cache lines that the notifications of an eager slot fill
	batch    uint32        // of runs between credits, less 1
	stamps   []gaspi.Value // of the last run that used each copy, 0 if none has
	control  []byte        // that lines lie in which awaits look at; nil if there are none
	keep     []gaspi.Span  // keeps peers' memory mapped
	coding   coding
}

// Single reports whether there is one lane.
func (x *Executable) Single() bool { return len(x.lanes) == 1 }

// Eager reports whether runs go through eager memory: some members may end them without hearing of
// others.
func (x *Executable) Eager() bool { return len(x.stamps) > 0 }

// A start is where a put writes to.
type start struct {
	mem    []byte // from there in copy 0 to the end of the put in the last one
	turn   turn
	before uint32 // how many runs before it is written a copy is fetched
}

const (
	// mostStarts is how many starts are fetched at most: a core has some dozen cache lines on their way at a time.
	mostStarts = 8
	// early is before of more copies than two: as many as let the line come before the reader, which mostly is not as
	// far, looks there for what is to come.
	early = 2
)

// expect notes a put to mapped memory in turns, from mem on. Of two copies only the first of all is fetched: readers
// look at the others before they are written.
func (x *Executable) expect(mem []byte, t turn) {
	switch {
	case t.last >= early && len(x.starts) < mostStarts:
		x.starts = append(x.starts, start{mem, t, early})
	case len(x.starts) == 0:
		x.starts = append(x.starts, start{mem, t, 0})
	}
}

// Expect fetches what the next run writes first, or, where there are more copies than two, a later one.
func (x *Executable) Expect() {
	for i := range x.starts {
		s := &x.starts[i]
		segment.Expect(s.mem[s.turn.at(x.runs+s.before):])
	}
}

// Renew makes an executable as if it had never run. No member begins a run before all have renewed theirs.
func (x *Executable) Renew() {
	x.runs = 0
	clear(x.stamps)
	for _, l := range x.lanes {
		for i := range l {
			if in := &l[i]; in.kind == schedule.Await && in.line {
				x.forgetLines(in)
			}
		}
	}
	x.coding.forget()
}

// forgetLines zeroes the values in the lines that an await looks at, in which no peer writes meanwhile.
func (x *Executable) forgetLines(in *instruction) {
	turn := &x.turns[in.to]
	for run := range turn.last + 1 {
		clear(x.control[in.offset+turn.at(run):][gaspi.LinePayload:gaspi.LineSize])
	}
}

// Ratio returns the bytes that coded forms had in the last run by the bytes that they stood for, of
// all vectors that were coded or decoded; 1 if there were none.
func (x *Executable) Ratio() float64 {
	if x.coding.whole == 0 {
		return 1
	}
	return float64(x.coding.coded) / float64(x.coding.whole)
}

// A lane is the code of one lane of a schedule.
type lane []instruction

// An instruction is a step bound to memory and notifications. Little depends on the run: the
// values of notifications, the copy of flip memory that is in use, and where the caller's
// buffers lie. It holds no pointers and little else: a plan of a thousand ranks has thousands.
type instruction struct {
	kind   schedule.Kind
	joint  bool // put: data and notification go in one operation
	mapped bool // put: it has arrived when it returns, and its source is free
	coded  bool // put: of a coded form, as much as is in use
	line   bool // put: to a line of its own (Queue.WriteNotifyLine); await: for data that may lie in one
	inline bool // put: to such a line, of Executable.inlined if the queue can write at once (Queue.TryWriteNotifyLine)

	posts bool // it posts a notification
	eager bool // the notification is one of several in a row, that of copy 0

	to, from rotation // put: of the target and of the source; await of a line: to is of that
	arity    arity    // combine

	// Of posts and awaits: the notification, how often it is posted in a run, and
	// the how-manieth of them this is.
	note     gaspi.NotificationID
	per, nth uint32

	row     int32           // of awaits: how many there are in a row from this one on
	peer    int32           // of posts: the rank of the job
	segment gaspi.SegmentID // of puts: there
	at      int32           // of puts: the first of sources; of works: which of works, or the first of parts: see arity
	offset  uint64          // of puts: in the segment, in copy 0; of awaits of a line: of that, in the control segment
}

// An arity is how many operands a combine has.
type arity uint8

const (
	many   arity = iota // as many as a work says
	pair                // of two into one, by the first of parts, which is the destination
	single              // a copy, likewise
	few                 // of three or more into one, as a work says, of fewer bytes than reduce.SmallestFold
	copies              // several copies, by three of parts: see compiler.joins
)

// A work is what a combine of many, an encode or a decode does.
type work struct {
	at      int32 // the first of parts: destinations, and behind them sources
	dsts    int32
	srcs    int32
	first   int32 // the destination that is written first
	lost    int32 // encode: which of coding.lost has what it lost of its source; -1 if that is not kept
	aliased bool  // the first is a source, not the first or second
	ahead   bool  // and it asks for what it reads: see foldAhead
}

// destinations returns where a combine goes to, of copies the first.
func (x *Executable) destinations(in *instruction) []operand {
	if in.arity == pair || in.arity == single || in.arity == copies {
		return x.parts[in.at:][:1]
	}
	dst, _ := x.sides(&x.works[in.at])
	return dst
}

// written returns how many bytes a combine writes.
func (x *Executable) written(in *instruction) uint64 {
	all := x.destinations(in)
	n := len(all) * all[0].n
	if in.arity == copies {
		n *= int(x.parts[in.at+2].mem)
	}
	return uint64(n)
}

// sides returns to and from where a work goes.
func (x *Executable) sides(w *work) (dst, src []operand) {
	all := x.parts[w.at:][:w.dsts+w.srcs]
	return all[:w.dsts], all[w.dsts:]
}

// An operand is part of memory that a run knows under a number.
type operand struct {
	mem    int32
	turn   rotation
	off, n int // bytes; off is in copy 0
}

// A rotation is the sort of some memory, by which its turns are known.
type rotation uint8

const (
	fixed rotation = iota // one copy
	flipped
	eager
	rotations = 4 // and one that is not used, so that no index is too high that was cut to two bits
)

// A turn says which copy of some memory a run uses.
type turn struct {
	last   uint32 // copies, of which there is a power of two, less 1
	stride uint64 // bytes from one to the next
}

// at returns how many bytes behind copy 0 the copy of a run is.
func (t turn) at(run uint32) uint64 { return uint64(run&t.last) * t.stride }

// Numbers of the caller's buffers.
const (
	memIn = iota
	memOut
	memExtra
)
