package gaspi

import (
	"context"
	"reflect"

	"github.com/gaspi-go/gaspi-go/internal/reduce"
	"github.com/gaspi-go/gaspi-go/segment"
)

// When the members of a group have found those that they signal, they tell all others by a
// reduction over these where the group lies: in words of 64 bits, each with the index and
// the tag of two members.
const (
	indexBits     = 16 // Config.Groups is less
	placeBits     = 32
	placesPerWord = 64 / placeBits
)

// placeOf returns the half of a word that says where a group lies at a member.
func placeOf(index int, tag uint32) uint64 { return uint64(tag)<<indexBits | uint64(index) }

// sharePlaces tells all members where the group lies here, and learns where it lies at
// them. When ctx ends first, calling it again goes on.
func (g *Group) sharePlaces(ctx context.Context) error {
	c, n := g.commit, len(g.ranks)
	if c.places == nil {
		c.places = make([]uint64, (n+placesPerWord-1)/placesPerWord)
		c.places[g.me/placesPerWord] = placeOf(g.index, g.tag) << (g.me % placesPerWord * placeBits)
	}
	for c.shared < len(c.places) {
		part := c.places[c.shared:]
		part = part[:min(len(part), g.p.cfg.AllReduceElements)]
		combine := func(acc, in []byte) {
			a := segment.Of[uint64](acc)
			reduce.Into(Or, a, a, segment.Of[uint64](in))
		}
		sig := signature{op: uint8(Or), kind: uint8(reflect.Uint64), count: uint32(len(part))}
		if err := g.vector.run(ctx, segment.BytesOf(part), segment.BytesOf(part), sig, combine); err != nil {
			return g.wrap("group_commit", err)
		}
		c.shared += len(part)
	}
	for m := range n {
		at := c.places[m/placesPerWord] >> (m % placesPerWord * placeBits)
		g.indexOf[m] = int(at & (1<<indexBits - 1))
		g.tagOf[m] = uint32(at>>indexBits) & lastTag
	}
	return nil
}
