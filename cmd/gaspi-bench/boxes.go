package main

import (
	"context"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// A box is the part of a rank's segment that one other rank writes in the limits
// of collective operations. There is one for each rank in each area.
//
//	| ready | done | credit | unused | flag, parcel of even calls | flag, parcel of odd calls |
//
// Flags have a cache line each, but for those of parcels: whoever sees a short
// parcel's flag has the parcel.
const (
	boxReady   = 0 * cacheLine
	boxDone    = 1 * cacheLine
	boxCredit  = 2 * cacheLine
	boxParcel  = 4 * cacheLine
	parcelAt   = 16 // behind the flag, aligned for every element
	parcelMost = 4 << 10
	parcelStep = parcelMost + cacheLine
	boxSize    = boxParcel + 2*parcelStep
	boxAreas   = 3
)

// box is where rank from's box is in the segment of every rank.
func (b *bench) box(area, from int) uint64 {
	return b.inbox() + uint64(area*b.p.Size()+from)*boxSize
}

// clearBoxes makes this rank's boxes, and the flags that ranks meet by, as new, and
// waits until those of all ranks are.
func (b *bench) clearBoxes(ctx context.Context) error {
	mem, err := b.seg.Span(rankFlags, b.inbox()+b.boxBytes()-rankFlags)
	if err != nil {
		return err
	}
	clear(mem.Bytes())
	return b.p.Barrier(ctx, b.p.World())
}

// pair adds two flags between this rank and r to lists: the one that r raises here
// and the one that this rank raises there.
func (b *bench) pair(area, r int, atHere, atThere uint64, here, there *[]flag) error {
	me := b.p.Rank()
	mine, err := b.flags(me, b.box(area, r)+atHere, 1)
	if err != nil {
		return err
	}
	theirs, err := b.flags(gaspi.Rank(r), b.box(area, int(me))+atThere, 1)
	if err != nil {
		return err
	}
	*here, *there = append(*here, &mine[0]), append(*there, &theirs[0])
	return nil
}

// awaitAll is awaitFrom of several flags.
func (b *bench) awaitAll(ctx context.Context, all []flag, v uint32) error {
	for _, f := range all {
		if err := b.awaitFrom(ctx, f, v); err != nil {
			return err
		}
	}
	return nil
}
