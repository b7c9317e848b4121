package choice

import (
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/algorithms"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// segmentShared is the bytes of segments of plain slices of ranks that share memory, of which two are
// under way at a time. Ranks meet twice in each, so short ones cost more than their copies gain
// by being near. Against segments of 128 KiB, one at a time, an allreduce of 4 and 16 MiB took
// 0.87 of the time with 2 ranks whose caches are far apart, about as long where they are near, and
// half as long with 4 ranks on 2 cores, since ranks that wait give their cores away. One at a time
// took 0.93 and 0.5, which the model cannot tell from two.
const segmentShared = 1 << 20

// segmentNear is the bytes of segments of vectors in segments that go over sockets: what
// was received is folded and sent on while it is in the cache. Over loopback, 8 MiB took,
// by a ring and by halving, 4.2 ms with 2 ranks instead of 5.8 in one piece, and 13.4 ms
// instead of 20 with 4. Two at a time, so that one is sent while the other is received,
// made broadcasts of 8 and 64 MiB a tenth faster, and a reduction of 8 MiB with 4 ranks
// 11 ms instead of 16.
const segmentNear = 512 << 10

// oneWayCut is how many segments plain slices that a root alone copies to scratch are cut into, so that
// others copy one from there meanwhile. A broadcast of 1 MiB took 0.76 of the time with 2 ranks,
// and as long with 4 ranks on 2 cores.
const oneWayCut = 4

// segmentLeast is the bytes that are not worth cutting: those of the blocks of many ranks together
// would leave the caches in longer segments.
const segmentLeast = 128 << 10

// segmentations returns the ways to cut a call that are worth a look. Each block is cut
// on its own, so the longest decides: of blocks of 1 MiB and of nothing it is worth as much
// as of blocks of 1 MiB alone.
func segmentations(c *Signature, a algorithms.Algorithm, want Settings) []schedule.Segmentation {
	if want.SegmentSize > 0 || want.Concurrency > 0 {
		return []schedule.Segmentation{{Size: want.SegmentSize, Concurrency: want.Concurrency}}
	}
	bytes, least := c.Longest()*c.Element, segmentLeast
	if c.Plain {
		least = plainSegment(c, a)
	}
	oneWay := c.Plain && a.Shares && (c.Op == schedule.Broadcast || c.Op == schedule.Scatter)
	switch {
	case oneWay && bytes > segmentLeast && bytes <= least:
		return []schedule.Segmentation{{Concurrency: 1}, {Concurrency: oneWayCut}}
	case a.Whole, bytes <= least, a.Shares && !c.Plain:
		return []schedule.Segmentation{{}}
	}
	if c.Plain {
		two := schedule.Segmentation{Size: max(1, least/c.Element), Concurrency: 2}
		if a.Shares {
			return []schedule.Segmentation{two}
		}
		return []schedule.Segmentation{{Size: two.Size, Concurrency: 1}, two}
	}
	whole := []schedule.Segmentation{{Concurrency: 1}} // which its name says, since there are others
	if bytes >= 2*segmentNear {
		near := max(1, segmentNear/c.Element)
		whole = append(whole, schedule.Segmentation{Size: near, Concurrency: 1}, schedule.Segmentation{Size: near, Concurrency: 2})
	}
	return append(whole, schedule.Segmentation{Concurrency: 2}, schedule.Segmentation{Concurrency: 4}, schedule.Segmentation{Concurrency: 8})
}

// radices returns the radices that are worth a look: 0, the algorithm's own, and those of its others
// by which fewer ranks do more rounds. An algorithm that is called by its name has its own.
func radices(c *Signature, a algorithms.Algorithm, want Settings) []int {
	all := []int{want.Radix}
	if want.Radix > 0 || want.Algorithm != "" {
		return all
	}
	for _, r := range a.Radices {
		if r < c.Size {
			all = append(all, r)
		}
	}
	return all
}

// plainSegment returns the bytes of segments of plain slices: of each block, of a blockwise operation.
func plainSegment(c *Signature, a algorithms.Algorithm) int {
	size := segmentNear
	if a.Shares {
		size = segmentShared
	}
	if c.Op.Blockwise() {
		size = max(segmentLeast, min(size, 2*size/c.Size))
	}
	return size
}

// runs is how many runs of a call are simulated, one of which may begin before the other has ended
// everywhere.
const runs = 2

// predict returns the time of a call by a simulation of all ranks, in seconds: that of all runs by
// their number.
func (ch *Chooser) predict(c *Signature, at *price.Topology, v Variant) (float64, error) {
	with := c.Call
	with.Radix = v.Radix
	load := ch.load(c, at, v)
	machine := ch.found(c, at, v)
	var seconds float64
	var err error
	if v.cuts() == 0 {
		seconds, err = price.Predict(&machine, &with, v.uncut(), load)
	} else {
		seconds, err = price.PredictSegments(&machine, &with, v.Segments, v.uncut(), load)
	}
	return seconds / runs, err
}

// underWay is how many elements of a rank's longer vector are under way at a time: of an
// AllToAll whose blocks differ, those of the mean rank.
func underWay(call *schedule.Call, s schedule.Segmentation) int {
	switch {
	case !call.Op.Blockwise():
		return s.UnderWay(call.Count)
	case call.Counts == nil:
		return s.UnderWay(call.Count) * call.Size
	}
	n := 0
	for _, k := range call.Counts {
		n += s.UnderWay(k)
	}
	if call.Op == schedule.AllToAll {
		n /= call.Size
	}
	return n
}
