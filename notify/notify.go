// Package notify implements notification boards: 32-bit words that a remote
// process sets and the owner waits for and resets.
//
// A Board does not own its memory and knows neither segments nor ranks; package
// segment lays it out, transports post to it, programs wait on it.
package notify

// ID numbers a notification of a board, from 0.
type ID uint32

// Value is what a notification carries. 0 means "not set" and is never posted.
type Value uint32

// Compare says how Until compares the word on the board with a value.
type Compare uint8

// The comparisons. All but Reached are of unsigned numbers. Reached is serial
// arithmetic: the word is the value or up to 2^31-1 steps beyond it, so that a
// running number may wrap around.
const (
	Equal Compare = iota
	NotEqual
	Greater
	AtLeast
	Less
	AtMost
	Reached
)

// accepted is what stands in relation c to v, as a run of count values from lo,
// modulo 2^32: every comparison is one subtraction and one comparison in the
// loop that a waiter spins in.
func (c Compare) accepted(v Value) (lo Value, count uint64) {
	switch c {
	case Equal:
		return v, 1
	case NotEqual:
		return v + 1, 1<<32 - 1
	case Greater:
		return v + 1, uint64(^v)
	case AtLeast:
		return v, uint64(^v) + 1
	case Less:
		return 0, uint64(v)
	case AtMost:
		return 0, uint64(v) + 1
	default:
		return v, 1 << 31
	}
}

// A Want is what a waiter waits for, and what Try asks for once. Some, Every,
// Until and EveryUntil make it. It has four fields and four words at most, so
// that the compiler keeps it in registers: copied through memory it made a wait
// that finds its value at once three times as slow.
type Want struct {
	where  uint64 // first id in the low half, count in the high half
	accept uint64 // how many values are accepted, from lo
	lo     uint32
	all    bool
}

func newWant(first ID, count uint32, all bool, how Compare, value Value) Want {
	lo, accept := how.accepted(value)
	return Want{where: uint64(first) | uint64(count)<<32, accept: accept, lo: uint32(lo), all: all}
}

func (w Want) first() uint32 { return uint32(w.where) }
func (w Want) count() uint32 { return uint32(w.where >> 32) }

// accepts reports whether a word is one that w waits for.
func (w Want) accepts(word uint32) bool { return uint64(word-w.lo) < w.accept }

// Some wants any of the count notifications from first to be set.
func Some(first ID, count uint32) Want { return newWant(first, count, false, NotEqual, 0) }

// Every wants all of the count notifications from first to be set.
func Every(first ID, count uint32) Want { return newWant(first, count, true, NotEqual, 0) }

// Until wants notification id to stand in relation how to value.
func Until(id ID, how Compare, value Value) Want { return newWant(id, 1, true, how, value) }

// EveryUntil wants all of the count notifications from first to stand in
// relation how to value.
func EveryUntil(first ID, count uint32, how Compare, value Value) Want {
	return newWant(first, count, true, how, value)
}

// end is the id behind the last.
func (w Want) end() uint64 { return uint64(w.first()) + uint64(w.count()) }
