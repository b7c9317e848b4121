// Package notify implements notification arrays: 32-bit words that a remote
// process sets and the owner waits for and resets.
//
// An Array does not own its memory and knows neither segments nor ranks; package
// segment lays it out, transports post to it, programs wait on it.
package notify

// ID numbers a notification of an array, from 0.
type ID uint32

// Value is what a notification carries. 0 means "not set" and is never posted.
type Value uint32

// Compare says how Until compares the word on the array with a value.
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

// A Condition names notifications and the values that end a wait for them; Try tests it once.
// Some, Every, Until and EveryUntil make it. It has four fields and four words at most, so that
// the compiler keeps it in registers: copied through memory it made a wait that finds its value
// at once three times as slow.
type Condition struct {
	where  uint64 // first id in the low half, count in the high half
	accept uint64 // how many values are accepted, from lo
	lo     uint32
	all    bool
}

func newCondition(first ID, count uint32, all bool, how Compare, value Value) Condition {
	lo, accept := how.accepted(value)
	return Condition{where: uint64(first) | uint64(count)<<32, accept: accept, lo: uint32(lo), all: all}
}

// Range returns the notifications that w names.
func (w Condition) Range() (first ID, count uint32) { return ID(w.first()), w.count() }

// All reports whether w needs all of them, not any one.
func (w Condition) All() bool { return w.all }

// Missing returns the notifications among those that w names whose values w does not accept.
func (w Condition) Missing(b *Array) []ID {
	var ids []ID
	for id := w.first(); uint64(id) < w.end(); id++ {
		if !w.accepts(uint32(b.Load(ID(id)))) {
			ids = append(ids, ID(id))
		}
	}
	return ids
}

func (w Condition) first() uint32 { return uint32(w.where) }
func (w Condition) count() uint32 { return uint32(w.where >> 32) }

// accepts reports whether a word is one that w waits for.
func (w Condition) accepts(word uint32) bool { return uint64(word-w.lo) < w.accept }

// Some holds when any of the count notifications from first is set.
func Some(first ID, count uint32) Condition { return newCondition(first, count, false, NotEqual, 0) }

// Every holds when all of the count notifications from first are set.
func Every(first ID, count uint32) Condition { return newCondition(first, count, true, NotEqual, 0) }

// Until holds when notification id stands in relation how to value.
func Until(id ID, how Compare, value Value) Condition { return newCondition(id, 1, true, how, value) }

// EveryUntil holds when all of the count notifications from first stand in relation how to
// value.
func EveryUntil(first ID, count uint32, how Compare, value Value) Condition {
	return newCondition(first, count, true, how, value)
}

// end is the id behind the last.
func (w Condition) end() uint64 { return uint64(w.first()) + uint64(w.count()) }
