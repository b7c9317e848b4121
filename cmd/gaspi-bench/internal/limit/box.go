package limit

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
	boxReady   = 0 * CacheLine
	boxDone    = 1 * CacheLine
	boxCredit  = 2 * CacheLine
	boxParcel  = 4 * CacheLine
	parcelAt   = 16 // behind the flag, aligned for every element
	parcelMost = 4 << 10
	parcelStep = parcelMost + CacheLine
	boxSize    = boxParcel + 2*parcelStep
	boxAreas   = 3
)

// box is where rank from's box is in the segment of every rank.
func (b *Memory) box(area, from int) uint64 {
	return b.Inbox() + uint64(area*b.P.Size()+from)*boxSize
}

// CollectiveBoxes is how many bytes the boxes of collective operations need.
func CollectiveBoxes(ranks int) uint64 { return RoundUp(uint64(boxAreas*ranks)*boxSize, Page) }

// clearBoxes makes this rank's boxes, and the flags that ranks meet by, as new, and
// waits until those of all ranks are.
func (b *Memory) clearBoxes(ctx context.Context) error {
	mem, err := b.Seg.Span(rankFlags, b.Outbox()-rankFlags)
	if err != nil {
		return err
	}
	clear(mem.Bytes())
	return b.P.Barrier(ctx, b.P.World())
}

// pair adds two flags between this rank and r to lists: the one that r raises here
// and the one that this rank raises there.
func (b *Memory) pair(area, r int, atHere, atThere uint64, here, there *[]Flag) error {
	me := b.P.Rank()
	mine, err := b.Flags(me, b.box(area, r)+atHere, 1)
	if err != nil {
		return err
	}
	theirs, err := b.Flags(gaspi.Rank(r), b.box(area, int(me))+atThere, 1)
	if err != nil {
		return err
	}
	*here, *there = append(*here, &mine[0]), append(*there, &theirs[0])
	return nil
}

// awaitAll is awaitFrom of several flags.
func (b *Memory) awaitAll(ctx context.Context, all []Flag, v uint32) error {
	for _, f := range all {
		if err := b.awaitFrom(ctx, f, v); err != nil {
			return err
		}
	}
	return nil
}
