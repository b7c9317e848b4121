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
	"github.com/gaspi-go/gaspi-go/internal/sys/cpu"
	"github.com/gaspi-go/gaspi-go/internal/sys/memory"
)

// A Recorder writes the ring of one rank. It is safe for concurrent use. Begin and Named work on
// nil: a rank that records nothing.
type Recorder struct {
	begun   *atomic.Uint64 // records
	skipped *atomic.Uint64 // records that Keep has refused
	cells   []cell
	mask    uint64
	last    atomic.Uint64 // when Keep was called last; in the unit of Now
	due     atomic.Uint64 // when Keep lets the next one through of those in rapid succession, but for a burst; likewise
	ticks   bool          // the clock is that of the processor
	micro   int64         // a microsecond, in the unit of Now
	start   time.Time     // unless ticks
	offset  int64         // of start on the monotonic clock of the system, nanoseconds

	mu     sync.Mutex
	names  map[string]Name // guarded by mu
	text   []byte          // guarded by mu; the room for names in the ring
	used   int             // guarded by mu; of text
	length *atomic.Uint64  // used, for readers
}

// A cell holds a record. Its number, of which the low half is enough, is stored last, with a release: a
// store that is ordered before later loads waits for the cache line.
type cell struct {
	number  atomic.Uint32
	skipped uint32 // before it, of all that were
	words   [recordWords - 1]uint64
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
	mem, err := memory.MapAt(int(file.Fd()), int64(rank)*size, int(size))
	if err != nil {
		return nil, err
	}
	for at := recordsAt; at < len(mem); at += pageSize {
		mem[at] = 0 // the system finds memory for a page now, not while something is timed
	}
	r := &Recorder{
		begun: counterAt(mem, wordBegun), skipped: counterAt(mem, wordSkipped), length: counterAt(mem, wordNames), cells: cellsOf(mem[recordsAt:]), mask: slots - 1,
		ticks: word(header, wordClock) == clockTicks, names: map[string]Name{}, text: mem[namesAt:recordsAt],
	}
	if r.ticks && !cpu.HasTicks() {
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

// pageSize is the smallest size of a page.
const pageSize = 4 << 10

// Calls of less than pause, in microseconds, after the one before are in rapid succession. Of these Keep lets
// through one in so many microseconds as its price is, and after a while without any as many as burst pays for.
const (
	pause = 2
	burst = 1024
)

// Prices of short calls, in microseconds: about 20 times what it takes to record them.
const (
	PostPrice = 1
	RunPrice  = 16 // of a collective: its steps are recorded, too, and other ranks wait meanwhile
)

// Keep reports whether a call from begin to end, or at end if begin is 0, is to be recorded. Calls of a
// microsecond or longer are, and those after a pause of two: a rank that holds up others has paused. In rapid
// succession few are, so that recording takes a small part of the time of a rank whose calls are all short; Keep
// counts the others. It neither blocks nor allocates, and has no atomic read-modify-write: goroutines that
// call it at one time may be let through together, or counted once.
func (r *Recorder) Keep(begin, end, price int64) bool {
	last := int64(r.last.Load())
	cpu.StoreRelease64(&r.last, uint64(end))
	if begin != 0 && !r.Short(begin, end) || end-last >= pause*r.micro {
		return true
	}
	due := max(int64(r.due.Load()), end-burst*r.micro)
	if due > end {
		cpu.StoreRelease64(r.skipped, r.skipped.Load()+1)
		return false
	}
	cpu.StoreRelease64(&r.due, uint64(due+price*r.micro))
	return true
}

// Now returns the time. It neither blocks nor allocates.
func (r *Recorder) Now() int64 {
	if r.ticks {
		return cpu.Ticks()
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
// of 0 is the end. It neither blocks nor allocates. A goroutine that is held up in it until others have
// recorded as much as there is room for spoils the record that has taken its place.
func (r *Recorder) Add(rec *Record) {
	if rec.End == 0 {
		rec.End = r.Now()
	}
	if rec.Begin == 0 {
		rec.Begin = rec.End
	}
	rec.Lane = cpu.Goroutine()
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
	s.skipped = uint32(r.skipped.Load())
	cpu.StoreRelease(&s.number, uint32(number))
	cpu.Prefetch(byteOf(&r.cells[number&r.mask])) // of the next record, whose cache line is not here
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
