package choice

import (
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/algorithms"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// Bytes of segments of plain slices. Shorter ones wait for each other more often
// than their copies stay nearer; longer ones leave the second-level cache, which
// the model does not know: with 4 ranks on 2 cores, 1 MiB took 0.45 ms in segments of
// 128 KiB, 1.1 ms in segments of 32 KiB and 0.8 ms in segments of 512 KiB. Two long
// ones at a time gain 1 % by the model, and lost up to 20 % there.
const (
	segmentShort = 64 << 10
	segmentLong  = 128 << 10
)

// segmentNear is the bytes of segments of vectors in segments that go over sockets: what
// was received is folded and sent on while it is in the cache. Over loopback, 8 MiB took,
// by a ring and by halving, 4.2 ms with 2 ranks instead of 5.8 in one piece, and 13.4 ms
// instead of 20 with 4. Two at a time, so that one is sent while the other is received,
// made broadcasts of 8 and 64 MiB a tenth faster, and a reduction of 8 MiB with 4 ranks
// 11 ms instead of 16.
const segmentNear = 512 << 10

// segmentations returns the ways to cut a call that are worth a look. Each block is cut
// on its own, so the longest decides: of blocks of 1 MiB and of nothing it is worth as much
// as of blocks of 1 MiB alone.
func segmentations(c *Signature, a algorithms.Algorithm, want Settings) []schedule.Segmentation {
	if want.SegmentSize > 0 || want.Concurrency > 0 {
		return []schedule.Segmentation{{Size: want.SegmentSize, Concurrency: want.Concurrency}}
	}
	bytes := c.Longest() * c.Element
	if a.Whole || bytes <= segmentLong || a.Shares && !c.Plain {
		return []schedule.Segmentation{{}}
	}
	if c.Plain {
		short, long := max(1, segmentShort/c.Element), max(1, segmentLong/c.Element)
		return []schedule.Segmentation{{Size: long, Concurrency: 1}, {Size: short, Concurrency: 2}}
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

// runs is how many runs of a call are simulated, one of which may begin before the other has ended
// everywhere.
const runs = 2

// predict returns the time of a call by a simulation of all ranks, in seconds: that of all runs by
// their number.
func (ch *Chooser) predict(c *Signature, at *price.Topology, v Variant) (float64, error) {
	with := c.Call
	with.Radix = v.Radix
	load := price.Load{Element: c.Element, Runs: runs, Hosts: ch.Hosts}
	machine := ch.Machine.At(underWay(&with, v.Segments) * c.Element)
	if ch.floods(c, at, v) {
		machine = machine.Flooded()
	}
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
