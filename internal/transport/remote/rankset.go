package remote

import (
	"sync/atomic"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
)

// A rankSet is a set of ranks, a bit for each: every segment has two, and every rank segments.
type rankSet []atomic.Uint32

const bitsOfWord = 32

// newRankSet returns an empty set of ranks below size.
func newRankSet(size int) rankSet { return make(rankSet, (size+bitsOfWord-1)/bitsOfWord) }

func bitOf(r base.Rank) uint32 { return 1 << (r % bitsOfWord) }

func (s rankSet) has(r base.Rank) bool { return s[r/bitsOfWord].Load()&bitOf(r) != 0 }
func (s rankSet) add(r base.Rank)      { s[r/bitsOfWord].Or(bitOf(r)) }

// remove takes r out of the set, and reports whether it was in it.
func (s rankSet) remove(r base.Rank) bool {
	return s[r/bitsOfWord].And(^bitOf(r))&bitOf(r) != 0
}
