package notify

import (
	"fmt"
	"sync/atomic"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/sys/cpu"
)

// HeaderSize is the number of bytes in front of an array's first word. Its first
// word is the wake word; the rest keeps the words that posters write off the
// cache line that posters only read.
const HeaderSize = 64

// The word at fencesAt of the header says whether waiters fence: see WaitPolicy.FenceAll.
const (
	fencesAt      = 4
	fencesOffered = 1 // by the process that waits, if a poster asks
	fencesAsked   = 2 // by a poster that executes no barrier
)

// Bytes is the memory an array of count notifications takes.
func Bytes(count uint32) uint64 { return HeaderSize + 4*uint64(count) }

// An Array gives access to notification words in memory that its creator owns, often shared
// with other processes. It is safe for concurrent use, by goroutines and by processes.
//
// Set is a release and Reset, Try and Wait acquire: whoever sees a value
// through them sees all that the poster wrote before it posted.
type Array struct {
	// wake is the sleepers' word: bit 0 says that somebody may sleep, the bits
	// above count wake-ups. A waiter sets bit 0, looks at the words once more,
	// and sleeps while the word is unchanged; a poster stores its value, then
	// loads this word. Both are sequentially consistent, so one of the two sees
	// the other (Dekker); where waiters fence, theirs is the barrier of both. One
	// word for both facts: were the count apart from the flag, a poster could clear
	// the flag of a waiter that came in between.
	wake   *atomic.Uint32
	words  []atomic.Uint32
	fences *atomic.Uint32

	fenced atomic.Bool // by waiters, since this process has asked for it

	// room is one more than the number of words, and 0 once the array is closed: the
	// comparison that keeps ids on the array is also the look for that.
	room atomic.Uint64

	// cursor is where the next search for "any of a range" begins, one after
	// the last hit, so that a busy low id cannot starve a high one.
	cursor atomic.Uint32

	turns atomic.Uint32 // since the last long one that was timed

	wait   *WaitPolicy
	alarms alarms
}

// NewArray lays an array over mem, which must be Bytes(count) bytes long, zero
// or already an array, aligned to 4 bytes, and outlive the array. wait says how
// this process waits; it is nil for an array that is only posted to.
func NewArray(mem []byte, count uint32, wait *WaitPolicy) *Array {
	if uint64(len(mem)) < Bytes(count) {
		panic(fmt.Sprintf("notify: %d bytes cannot hold an array of %d", len(mem), count))
	}
	b := &Array{wake: &wordsOf(mem, 1)[0], words: wordsOf(mem[HeaderSize:], int(count)), fences: &wordsOf(mem[fencesAt:], 1)[0], wait: wait}
	if wait != nil && wait.FenceAll != nil {
		b.fences.CompareAndSwap(0, fencesOffered)
	}
	b.room.Store(uint64(count) + 1)
	return b
}

// Memory returns the wake word and the notifications, for code that cannot call Set and Try. They
// are valid as long as the memory given to NewArray.
func (b *Array) Memory() (wake *atomic.Uint32, words []atomic.Uint32) { return b.wake, b.words }

// Len is the number of notifications.
func (b *Array) Len() uint32 { return uint32(len(b.words)) }

// Check returns an error unless id is on the array and v may be posted.
func (b *Array) Check(id ID, v Value) error {
	if v == 0 || uint64(id) >= uint64(len(b.words)) {
		return b.refuse(id, v)
	}
	return nil
}

// refuse is the error of Check, apart so that Check is inlined.
func (b *Array) refuse(id ID, v Value) error {
	if v == 0 {
		return base.ErrZeroValue
	}
	return fmt.Errorf("%w: id %d, but the segment has %d", base.ErrNoNotification, id, len(b.words))
}

// Set sets notification id to v, overwriting what was there, and wakes
// sleepers. It does not block. The caller has made sure of Check.
func (b *Array) Set(id ID, v Value) {
	b.words[id].Store(uint32(v))
	b.WakeSleepers()
}

// StoreRelease sets notification id to v with release order and wakes no waiter. It is the
// first half of a Set and WakeSleepers the second, for a poster that executes an atomic
// read-modify-write between the two anyway: that gives the order that Set pays for itself. It
// needs none where Fenced reports true.
// Prefetch, called earlier, fetches the word's cache line meanwhile.
func (b *Array) StoreRelease(id ID, v Value) { cpu.StoreRelease(&b.words[id], uint32(v)) }

// ShortCopy is the most bytes that CopyRelease copies; below 0 where it does not pay.
const ShortCopy = cpu.ShortCopy

// CopyRelease is Prefetch, a copy of at most ShortCopy bytes from src to dst, and StoreRelease, in one call.
func (b *Array) CopyRelease(dst, src []byte, id ID, v Value) {
	cpu.CopyRelease(dst, src, &b.words[id], uint32(v))
}

// AskForFences asks waiters to execute a barrier on the cores of their posters before they sleep. If they
// offer that, they do so from now on, and Fenced reports true. A waiter that has not seen the request has
// announced its sleep before the posts that come after it.
func (b *Array) AskForFences() {
	if b.fences.Load() == 0 || !cpu.CanFenceAll() {
		return
	}
	b.fences.CompareAndSwap(fencesOffered, fencesAsked)
	b.fenced.Store(true)
}

// Fenced reports whether posts of this process need no barrier between StoreRelease and WakeSleepers,
// since it has asked for fences.
func (b *Array) Fenced() bool { return b.fenced.Load() }

// WakeSleepers wakes the goroutines and processes that sleep on the array. If none does, it
// costs one load.
func (b *Array) WakeSleepers() {
	if b.wake.Load()&1 != 0 {
		b.Wake()
	}
}

// Prefetch fetches the cache line of notification id for a StoreRelease that follows. It is a
// hint.
func (b *Array) Prefetch(id ID) { cpu.Prefetch(byteOf(&b.words[id])) }

// Add adds delta to notification id and wakes sleepers: the counting form of
// Set. The sum wraps around; one that wraps to 0 reads as "not set".
func (b *Array) Add(id ID, delta Value) {
	b.words[id].Add(uint32(delta))
	b.WakeSleepers()
}

// Reset takes notification id off the array: one atomic exchange with 0 that
// returns the old value. 0 means that it was not set, or that somebody else
// took it; of several callers exactly one gets the value. After Close it returns
// base.ErrClosed.
func (b *Array) Reset(id ID) (Value, error) {
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

// Load returns the present value of notification id, 0 if it is not on the array or the array
// is closed.
func (b *Array) Load(id ID) Value {
	if uint64(id)+1 >= b.room.Load() {
		return 0
	}
	return Value(b.words[id].Load())
}

// Wake makes all waiters on the array test their conditions again.
func (b *Array) Wake() {
	for {
		old := b.wake.Load()
		if b.wake.CompareAndSwap(old, (old&^1)+2) {
			b.wait.park().Wake(b.wake)
			return
		}
	}
}

// Close ends all waits on the array, now and later, with base.ErrClosed, and so all
// looks that return an error. Posts go on to reach its words, which nobody sees.
func (b *Array) Close() {
	b.room.Store(0)
	b.Wake()
	b.alarms.close()
}

// Try tests condition w once. With Some it returns one id that is set and resets nothing; with
// count 0 it succeeds at once. It never blocks.
func (b *Array) Try(w Condition) (ID, bool, error) {
	if w.end() >= b.room.Load() {
		return 0, false, b.outside(w)
	}
	id, ok := b.test(w)
	return id, ok, nil
}

// outside returns the error of a range that leaves the array, or of an array that is closed.
func (b *Array) outside(w Condition) error {
	switch {
	case b.closed():
		return base.ErrClosed
	case w.count() == 1:
		return fmt.Errorf("%w: id %d, but the segment has %d", base.ErrNoNotification, w.first(), len(b.words))
	}
	return fmt.Errorf("%w: ids %d to %d, but the segment has %d", base.ErrNoNotification, w.first(), w.end()-1, len(b.words))
}

func (b *Array) closed() bool { return b.room.Load() == 0 }

// test is Try without the range check. One notification comes first because
// that is what most waits are for.
func (b *Array) test(w Condition) (ID, bool) {
	if w.count() == 1 {
		return ID(w.first()), w.accepts(b.words[w.first()].Load())
	}
	return b.testMany(w)
}

func (b *Array) testMany(w Condition) (ID, bool) {
	words := b.words[w.first():w.end()]
	if !w.all && len(words) > 0 {
		return b.testAny(words, w)
	}
	for i := range words {
		if !w.accepts(words[i].Load()) {
			return 0, false
		}
	}
	return ID(w.first()), true
}

// testAny searches from the cursor to the end of the range and then from the
// start of the range to the cursor.
func (b *Array) testAny(words []atomic.Uint32, w Condition) (ID, bool) {
	start := b.cursor.Load() - w.first()
	if start >= uint32(len(words)) {
		start = 0
	}
	for i := range words[start:] {
		if w.accepts(words[start:][i].Load()) {
			return b.advance(w.first() + start + uint32(i)), true
		}
	}
	for i := range words[:start] {
		if w.accepts(words[i].Load()) {
			return b.advance(w.first() + uint32(i)), true
		}
	}
	return 0, false
}

func (b *Array) advance(id uint32) ID {
	b.cursor.Store(id + 1)
	return ID(id)
}
