// Package meeting is what the members of a team say to each other beside operations: in reductions
// over a group of their own, one after the other.
//
// When a context ends in one, the next call that meets goes on with it, with what was said at its
// beginning. So no member is ever a meeting ahead of where the others take it to be: all hear the same,
// and whoever hears of another call than its own knows that the calls do not match.
//
// It knows neither teams nor what is wrong with calls. Package collectives calls it.
package meeting

import "math/bits"

// A Word is what a member says in a meeting, or all that members say: the bitwise or of it.
type Word uint64

// The calls that hold meetings.
const (
	Flush Word = 1 << iota
	Alloc
	Release
	Reset
	Split

	declined // a member cannot take part
	segments // the first of three bits: how many segments a member began to make, modulo 3

	calls = declined - 1
)

// The rest of a Word is a number of sameBits bits that only calls that match have in common.
const (
	sameFrom = 9
	sameBits = 27
)

// Say returns what a member says of a call with a number and a signature, that has begun to make so
// many segments. Those that hold a Reset may have stopped at different calls.
func Say(call Word, number, signature uint64, made int) Word {
	same := (signature ^ number*0x9e3779b97f4a7c15) >> (64 - sameBits)
	if call == Reset {
		same = 0
	}
	return call | segments<<(made%3) | Word(Number(same, sameBits)<<sameFrom)
}

// Decline returns what a member says that cannot take part.
func (w Word) Decline() Word { return w | declined }

// Of reports whether all members that said it are in one call.
func (w Word) Of(call Word) bool { return w&calls == call }

// Declined reports whether some member that said it cannot take part.
func (w Word) Declined() bool { return w&declined != 0 }

// Alike reports whether all members that said it said the same number and signature.
func (w Word) Alike() bool { return Equal(uint64(w)>>sameFrom, sameBits) }

// Uneven reports whether some members have begun to make one segment more than others, and whether
// this one, which has begun to make so many, is among the others.
func (w Word) Uneven(made int) (uneven, behind bool) {
	return bits.OnesCount64(uint64(w/segments&7)) > 1, w/segments>>((made+1)%3)&1 == 1
}

// Number returns the lower bits of n, so many, and their complement behind them. In the bitwise or of
// several, a bit and its complement are both set when the numbers differ.
func Number(n uint64, width int) uint64 {
	mask := uint64(1)<<width - 1
	return n&mask | (^n&mask)<<width
}

// Equal reports whether w is the bitwise or of Numbers of that width that are all equal.
func Equal(w uint64, width int) bool { return w&(w>>width)&(1<<width-1) == 0 }
