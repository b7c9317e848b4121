package notify

import (
	"fmt"
	"sync/atomic"

	"github.com/gaspi-go/gaspi-go/internal/base"
	"github.com/gaspi-go/gaspi-go/internal/sys"
)

// HeaderSize is the number of bytes in front of a board's first word. Its first
// word is the wake word; the rest keeps the words that posters write off the
// cache line that posters only read.
const HeaderSize = 64

// Bytes is the memory a board of count notifications takes.
func Bytes(count uint32) uint64 { return HeaderSize + 4*uint64(count) }

// A Board is a window on notification words that somebody else allocated, often
// in memory shared with other processes. It is safe for concurrent use, by
// goroutines and by processes.
//
// Post is a release and Reset, Try and Wait acquire: whoever sees a value
// through them sees all that the poster wrote before it posted.
type Board struct {
	// wake is the sleepers' word: bit 0 says that somebody may sleep, the bits
	// above count wake-ups. A waiter sets bit 0, looks at the words once more,
	// and sleeps while the word is unchanged; a poster stores its value, then
	// loads this word. Both are sequentially consistent, so one of the two sees
	// the other (Dekker). One word for both facts: were the count apart from the
	// flag, a poster could clear the flag of a waiter that came in between.
	wake  *atomic.Uint32
	words []atomic.Uint32

	// room is one more than the number of words, and 0 once the board is closed: the
	// comparison that keeps ids on the board is also the look for that.
	room atomic.Uint64

	// cursor is where the next search for "any of a range" begins, one after
	// the last hit, so that a busy low id cannot starve a high one.
	cursor atomic.Uint32

	wait   *Waiting
	alarms alarms
}

// NewBoard lays a board over mem, which must be Bytes(count) bytes long, zero
// or already a board, aligned to 4 bytes, and outlive the board. wait says how
// this process waits; it is nil for a board that is only posted to.
func NewBoard(mem []byte, count uint32, wait *Waiting) *Board {
	if uint64(len(mem)) < Bytes(count) {
		panic(fmt.Sprintf("notify: %d bytes cannot hold a board of %d", len(mem), count))
	}
	b := &Board{wake: &wordsOf(mem, 1)[0], words: wordsOf(mem[HeaderSize:], int(count)), wait: wait}
	b.room.Store(uint64(count) + 1)
	return b
}

// Len is the number of notifications.
func (b *Board) Len() uint32 { return uint32(len(b.words)) }

// Check returns an error unless id is on the board and v may be posted.
func (b *Board) Check(id ID, v Value) error {
	if v == 0 || uint64(id) >= uint64(len(b.words)) {
		return b.refuse(id, v)
	}
	return nil
}

// refuse is the error of Check, apart so that Check is inlined.
func (b *Board) refuse(id ID, v Value) error {
	if v == 0 {
		return base.ErrZeroValue
	}
	return fmt.Errorf("%w: id %d, but the segment has %d", base.ErrNoNotification, id, len(b.words))
}

// Post sets notification id to v, overwriting what was there, and wakes
// sleepers. It does not block. The caller has made sure of Check.
func (b *Board) Post(id ID, v Value) {
	b.words[id].Store(uint32(v))
	b.Rouse()
}

// Mark is the first half of a Post and Rouse the second, for posters who do an
// atomic read-modify-write of their own anyway: one between the two is the order
// that Post pays for. Expect, if there is something to do before them, gets the
// word's cache line here meanwhile.
func (b *Board) Mark(id ID, v Value) { sys.StoreRelease(&b.words[id], uint32(v)) }

// Rouse wakes sleepers, if there are any.
func (b *Board) Rouse() {
	if b.wake.Load()&1 != 0 {
		b.Wake()
	}
}

// Expect prepares for a Mark.
func (b *Board) Expect(id ID) { sys.Prefetch(byteOf(&b.words[id])) }

// Add adds delta to notification id and wakes sleepers: the counting form of
// Post. The sum wraps around; one that wraps to 0 reads as "not set".
func (b *Board) Add(id ID, delta Value) {
	b.words[id].Add(uint32(delta))
	b.Rouse()
}

// Reset takes notification id off the board: one atomic exchange with 0 that
// returns the old value. 0 means that it was not set, or that somebody else
// took it; of several callers exactly one gets the value. After Close it returns
// base.ErrClosed.
func (b *Board) Reset(id ID) (Value, error) {
	if uint64(id)+1 >= b.room.Load() {
		return 0, b.outside(Some(id, 1))
	}
	// A plain look first: an exchange takes the cache line away from the poster
	// even when there is nothing to take.
	if b.words[id].Load() == 0 {
		return 0, nil
	}
	return Value(b.words[id].Swap(0)), nil
}

// Load is the present value of notification id, 0 if it is not on the board or the
// board is closed.
func (b *Board) Load(id ID) Value {
	if uint64(id)+1 >= b.room.Load() {
		return 0
	}
	return Value(b.words[id].Load())
}

// Wake makes everybody who waits on the board look again.
func (b *Board) Wake() {
	for {
		old := b.wake.Load()
		if b.wake.CompareAndSwap(old, (old&^1)+2) {
			b.wait.park().Wake(b.wake)
			return
		}
	}
}

// Close ends all waits on the board, now and later, with base.ErrClosed, and so all
// looks that return an error. Posts go on to reach its words, which nobody sees.
func (b *Board) Close() {
	b.room.Store(0)
	b.Wake()
	b.alarms.close()
}

// Try looks once for what w wants. With Some it returns one id that is set and
// resets nothing; with count 0 it succeeds at once. It never blocks.
func (b *Board) Try(w Want) (ID, bool, error) {
	if w.end() >= b.room.Load() {
		return 0, false, b.outside(w)
	}
	id, ok := b.look(w)
	return id, ok, nil
}

// outside is why a range does not lie on the board: it leaves it, or it is closed.
func (b *Board) outside(w Want) error {
	switch {
	case b.closed():
		return base.ErrClosed
	case w.count() == 1:
		return fmt.Errorf("%w: id %d, but the segment has %d", base.ErrNoNotification, w.first(), len(b.words))
	}
	return fmt.Errorf("%w: ids %d to %d, but the segment has %d", base.ErrNoNotification, w.first(), w.end()-1, len(b.words))
}

func (b *Board) closed() bool { return b.room.Load() == 0 }

// look is Try without the range check. One notification comes first because
// that is what most waits are for.
func (b *Board) look(w Want) (ID, bool) {
	if w.count() == 1 {
		return ID(w.first()), w.accepts(b.words[w.first()].Load())
	}
	return b.lookMany(w)
}

func (b *Board) lookMany(w Want) (ID, bool) {
	words := b.words[w.first():w.end()]
	if !w.all && len(words) > 0 {
		return b.lookAny(words, w)
	}
	for i := range words {
		if !w.accepts(words[i].Load()) {
			return 0, false
		}
	}
	return ID(w.first()), true
}

// lookAny searches from the cursor to the end of the range and then from the
// start of the range to the cursor.
func (b *Board) lookAny(words []atomic.Uint32, w Want) (ID, bool) {
	start := b.cursor.Load() - w.first()
	if start >= uint32(len(words)) {
		start = 0
	}
	for i := range words[start:] {
		if w.accepts(words[start:][i].Load()) {
			return b.hit(w.first() + start + uint32(i)), true
		}
	}
	for i := range words[:start] {
		if w.accepts(words[i].Load()) {
			return b.hit(w.first() + uint32(i)), true
		}
	}
	return 0, false
}

func (b *Board) hit(id uint32) ID {
	b.cursor.Store(id + 1)
	return ID(id)
}
