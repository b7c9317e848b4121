package gaspi

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"slices"
)

// A scope tells Commits of equal ranks apart. The zero scope is that of groups that are made
// from no other one.
type scope struct {
	call  scopeCall
	tag   Tag
	first Rank   // first member of the group that the new one is made from
	place uint64 // of that group at this member; see placeOf
}

// A scopeCall is the call that makes a group from another one.
type scopeCall uint32

const (
	subgroupCall scopeCall = iota + 1
	shrinkCall
)

// scopeOf returns the scope of a group that a call makes from g, alike on all members of g.
// Places of groups are used again with another tag, so that it is not the scope of an earlier
// group's.
func (g *Group) scopeOf(call scopeCall, tag Tag) scope {
	return scope{call: call, tag: tag, first: g.ranks[0], place: placeOf(g.indexOf[0], g.tagOf[0])}
}

// record returns the record of a group of ranks.
func (s scope) record(ranks []Rank) record {
	b := binary.LittleEndian.AppendUint32(nil, uint32(s.call))
	b = binary.LittleEndian.AppendUint32(b, uint32(s.tag))
	b = binary.LittleEndian.AppendUint32(b, uint32(s.first))
	b = binary.LittleEndian.AppendUint64(b, s.place)
	for _, r := range ranks {
		b = binary.LittleEndian.AppendUint32(b, uint32(r))
	}
	h := fnv.New64a()
	h.Write(b)
	return record(h.Sum64() | 1)
}

// Subgroup is NewGroup for members of g. The new group's Commit matches Commits of groups
// that others have made from g with the same tag and of the same ranks, and no other Commit,
// as in MPI_Comm_create_group: groups of equal ranks that are made from different groups, or
// with different tags, may be committed by several goroutines at a time, in any order at
// each member, and a Commit that has ended early blocks none of another scope. Commits of
// one tag and equal ranks match by their order, and wait for each other. Subgroup is local
// and does not block; g must be committed. Group.Delete of g leaves the new group as it is.
func (g *Group) Subgroup(tag Tag, ranks ...Rank) (*Group, error) {
	if err := g.made("group_subgroup"); err != nil {
		return nil, err
	}
	if err := tag.check(); err != nil {
		return nil, g.error("group_subgroup", err)
	}
	for _, r := range ranks {
		if _, member := slices.BinarySearch(g.ranks, r); !member {
			return nil, g.error("group_subgroup", fmt.Errorf("%w: rank %d is no member of the group", ErrBadRank, r))
		}
	}
	sub, err := g.p.NewGroup(ranks...)
	if err == nil {
		sub.scope = g.scopeOf(subgroupCall, tag)
	}
	return sub, err
}
