package trace

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/sys"
)

// A Recorder writes the ring of one rank. It is safe for concurrent use. Begin and Named work on
// nil: a rank that records nothing.
type Recorder struct {
	begun  *atomic.Uint64 // records
	cells  []cell
	mask   uint64
	ticks  bool      // the clock is that of the processor
	start  time.Time // else
	offset int64     // of start on the monotonic clock of the system, nanoseconds
	micro  int64     // a microsecond, in the unit of Now

	mu     sync.Mutex
	names  map[string]Name // guarded by mu
	text   []byte          // guarded by mu; the room for names in the ring
	used   int             // guarded by mu; of text
	length *atomic.Uint64  // used, for readers
}

// A cell holds a record. Its number, of which the low half is enough, is stored last, with a release: a
// store that is ordered before later loads waits for the cache line.
type cell struct {
	number atomic.Uint32
	_      uint32
	words  [recordWords - 1]uint64
}

// NewRecorder returns the recorder of the ring with a number in the file, which was made for so many
// ranks. The file can be closed then; the memory stays until the process ends.
func NewRecorder(file *os.File, rank, ranks int) (*Recorder, error) {
	header := make([]byte, namesAt)
	if _, err := file.ReadAt(header, 0); err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	slots := word(header, wordSlots)
	if word(header, wordMagic) != magic || slots == 0 || slots > mostSlots || slots&(slots-1) != 0 ||
		rank < 0 || rank >= ranks || info.Size() != int64(ranks)*regionSize(int(slots)) {
		return nil, fmt.Errorf("ring %d of %d in a file of %d bytes: it was made for another version or job", rank, ranks, info.Size())
	}
	size := regionSize(int(slots))
	mem, err := sys.MapAt(int(file.Fd()), int64(rank)*size, int(size))
	if err != nil {
		return nil, err
	}
	r := &Recorder{
		begun: counterAt(mem, wordBegun), length: counterAt(mem, wordNames), cells: cellsOf(mem[recordsAt:]), mask: slots - 1,
		ticks: word(header, wordClock) == clockTicks, names: map[string]Name{}, text: mem[namesAt:recordsAt],
	}
	if r.ticks && !sys.HasTicks() {
		return nil, errors.New("this processor lacks the counter that its launcher reads")
	}
	r.start, r.micro = time.Now(), 1000
	ticks, nanos, err := now()
	r.offset = nanos
	if t, n := ticks-int64(word(header, wordTicks)), nanos-int64(word(header, wordNanos)); r.ticks && n > 0 {
		r.micro = int64(1000 * float64(t) / float64(n))
	}
	return r, err
}

// Short reports whether a time is less than a microsecond, which is as long as a call takes that does not
// block.
func (r *Recorder) Short(begin, end int64) bool { return end-begin < r.micro }

// Now returns the time. It blocks and allocates nothing.
func (r *Recorder) Now() int64 {
	if r.ticks {
		return sys.Ticks()
	}
	return r.offset + int64(time.Since(r.start))
}

// Begin is Now, and 0 for nobody who records.
func (r *Recorder) Begin() int64 {
	if r == nil {
		return 0
	}
	return r.Now()
}

// small is how many bytes a processor copies while a record is written, of which the time is none.
const small = 4 << 10

// BeginMove is Begin of what moves so many bytes; it returns 0, too, where these are so few that Add
// may take the end for the beginning, which spares a look at the clock before they leave.
func (r *Recorder) BeginMove(bytes uint64) int64 {
	if r == nil || bytes <= small {
		return 0
	}
	return r.Now()
}

// Add records what the calling goroutine has done, whose Lane it sets. An End of 0 is now, and a Begin
// of 0 is the end. It neither blocks nor allocates.
func (r *Recorder) Add(rec *Record) {
	if rec.End == 0 {
		rec.End = r.Now()
	}
	if rec.Begin == 0 {
		rec.Begin = rec.End
	}
	rec.Lane = sys.Goroutine()
	number := r.begun.Add(1)
	s := &r.cells[(number-1)&r.mask]
	adds := uint64(0)
	if rec.Adds {
		adds = 1 << 63
	}
	s.words[0], s.words[1], s.words[2] = uint64(rec.Begin), uint64(rec.End), uint64(rec.Lane)
	s.words[3] = uint64(rec.Kind) | uint64(rec.Name)<<16 | uint64(uint32(rec.Peer))<<32
	s.words[4] = uint64(rec.Segment) | uint64(rec.Note)<<32
	s.words[5] = uint64(rec.Value) | uint64(rec.Count&mostCount)<<32 | adds
	s.words[6] = rec.Bytes
	sys.StoreRelease(&s.number, uint32(number))
	sys.Prefetch(byteOf(&r.cells[number&r.mask])) // of the next record, whose cache line is not here
}

// Named returns the number of a text, the same for the same text; that of "(more names)" when there
// is no more room. It takes a lock, and is for what is called seldom or keeps the number.
func (r *Recorder) Named(text string) Name {
	if r == nil {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if n, ok := r.names[text]; ok {
		return n
	}
	text = text[:min(len(text), mostName)]
	if r.used+2+len(text)+2+len(further) > len(r.text) || len(r.names) >= mostNames {
		text = further
		if n, ok := r.names[text]; ok {
			return n
		}
	}
	binary.LittleEndian.PutUint16(r.text[r.used:], uint16(len(text)))
	r.used += 2 + copy(r.text[r.used+2:], text)
	n := Name(len(r.names) + 1)
	r.names[text] = n
	r.length.Store(uint64(r.used))
	return n
}

// Limits of names, of which the room for texts is another one.
const (
	mostName  = 200 // bytes
	mostNames = 4096
	further   = "(more names)"
)

func rankOf(word uint32) base.Rank { return base.Rank(int32(word)) }
