package choice

import (
	"encoding/binary"
	"slices"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/algorithms"
)

// A Signature describes a collective call as far as all members know it alike. The keys of plans
// and of choices derive from it.
type Signature struct {
	schedule.Call
	Element int      // bytes of an element
	Extra   int      // vectors of each rank that are reduced together with the first
	Ordered bool     // the operation of the program does not commute
	Plain   bool     // the buffers lie where peers cannot reach them
	Options Settings // of the caller
}

// A Key is a Signature as a comparable value. Calls of one team with equal keys match, unless they
// differ in the types of elements, the operation on them or the places of buffers, which Signature
// does not have.
type Key struct {
	op                      schedule.Operation
	inPlace, ordered, plain bool
	root, count, rounds     int
	element, extra          int
	counts                  string // the block sizes as bytes
	options                 Settings
}

// Key returns the key of c. It allocates only if blocks have different lengths.
func (c *Signature) Key() Key {
	k := Key{
		op: c.Op, inPlace: c.InPlace, ordered: c.Ordered, plain: c.Plain,
		root: c.Root, count: c.Count, rounds: c.Rounds, element: c.Element, extra: c.Extra, options: c.Options,
	}
	if c.Counts != nil {
		b := make([]byte, 0, 8*len(c.Counts))
		for _, n := range c.Counts {
			b = binary.LittleEndian.AppendUint64(b, uint64(n))
		}
		k.counts = string(b)
	}
	return k
}

// SomeBlockEmpty reports whether some member's block of those of different lengths is
// empty, which all members know.
func (c *Signature) SomeBlockEmpty() bool { return slices.Contains(c.Counts, 0) }

// typical returns the call that is priced in place of c: of the length of c's class, and with
// root 0. So a choice depends on the key of the typical call alone, and not on the calls that
// a member has made or explained before. Blocks of different lengths have no class: all
// members know all of them, and each such call is priced as it is.
func (c *Signature) typical() Signature {
	like := *c
	if c.Counts != nil {
		return like
	}
	like.Count, like.Root = class(c.Count), 0
	if c.Engaged != nil {
		like.Engaged = algorithms.Engage(c.Size, 0, c.Options.Engaged)
	}
	return like
}

// class is a length that stands for all that are about as long: the three highest
// bits of n.
func class(n int) int {
	low := 0
	for n>>low >= 8 {
		low++
	}
	return n >> low << low
}
