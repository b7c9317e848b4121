// Package notify implements notification boards: 32-bit words that a remote
// process sets and the owner waits for and resets.
//
// A Board does not own its memory and knows neither segments nor ranks; package
// segment lays it out, transports post to it, programs wait on it.
package notify

import (
	"fmt"

	"github.com/gaspi-go/gaspi-go/internal/base"
)

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

// holds reports whether word stands in the relation to v.
func (c Compare) holds(word, v Value) bool {
	switch c {
	case Equal:
		return word == v
	case NotEqual:
		return word != v
	case Greater:
		return word > v
	case AtLeast:
		return word >= v
	case Less:
		return word < v
	case AtMost:
		return word <= v
	default:
		return int32(word-v) >= 0
	}
}

// A Want is what a waiter waits for, and what Try asks for once. Some, Every,
// Until and EveryUntil make it.
//
// It has four fields because that is the most that the compiler keeps in
// registers: with a fifth, every look went through memory and cost 6 ns more.
type Want struct {
	first ID
	count uint32
	how   Compare // with the bit every
	value Value
}

// every, in Want.how, says that all of the range must hold, not any.
const every Compare = 0x80

// Some wants any of the count notifications from first to be set.
func Some(first ID, count uint32) Want {
	return Want{first: first, count: count, how: NotEqual}
}

// Every wants all of the count notifications from first to be set.
func Every(first ID, count uint32) Want {
	return Want{first: first, count: count, how: NotEqual | every}
}

// Until wants notification id to stand in relation how to value.
func Until(id ID, how Compare, value Value) Want {
	return Want{first: id, count: 1, how: how, value: value}
}

// EveryUntil wants all of the count notifications from first to stand in
// relation how to value.
func EveryUntil(first ID, count uint32, how Compare, value Value) Want {
	return Want{first: first, count: count, how: how | every, value: value}
}

// check returns an error unless the range of w lies on a board of size words.
func (w Want) check(size int) error {
	if uint64(w.first)+uint64(w.count) > uint64(size) {
		return w.outside(size)
	}
	return nil
}

// outside is the error of check, apart so that check is inlined.
func (w Want) outside(size int) error {
	return fmt.Errorf("%w: ids %d to %d, but the board has %d", base.ErrNoNotification,
		w.first, uint64(w.first)+uint64(w.count)-1, size)
}
