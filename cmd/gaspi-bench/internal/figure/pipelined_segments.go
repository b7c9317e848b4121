package figure

import (
	"fmt"
	"math"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// underWay is how many segments of fixed size we have under way at a time. The paper
// starts all there are.
const underWay = 8

// pipelined2 is Fig. 2.
func pipelined2() Figure {
	fixed := func(name, algorithm string, bytes int) Line {
		return Line{Name: fmt.Sprintf("%s in %s", name, showBytes(float64(bytes))), Algorithm: algorithm, SegmentBytes: bytes, Segments: underWay}
	}
	// The measured grids end where the paper's would if all its lengths were shorter by
	// this: at 512 MB.
	const scale = 512
	sweep := &Sweep{
		Op: schedule.AllReduce, Machine: edr(), Grids: grids(8, 9),
		Lines: []Line{
			whole(nameHalving, "halving"), fixed(nameHalving, "halving", 32*mib),
			whole(nameRing, "ring"), fixed(nameRing, "ring", 32*mib), fixed(nameRing, "ring", 128*mib),
		},
	}
	for _, way := range []Setting{Emulated, Raw} {
		g := sweep.Grids[way]
		g.Bytes, g.Large, g.Scale = []int{256 * kib, mib}, 256*kib, scale
		sweep.Grids[way] = g
	}
	segmented := sweep.Lines[3].Name
	f := Figure{
		Name: "pipelined-2", Paper: pipelined, Place: "Fig. 2", Title: "Allreduce in segments of fixed size",
		About: fmt.Sprintf("The vector is cut into segments of a fixed size, of which %d are under way at a time.", underWay),
		Sweep: sweep,
	}
	for i, p := range []int{8, 9} {
		gain := []Reading{
			exactly(1650.0/1400, `Section 5.1: "about 250 MB/s", of 1400`), exactly(1200.0/800, "Section 5.1: from 800 to 1200 MB/s"),
		}[i]
		f.Claims = append(f.Claims, Claim{
			Text: fmt.Sprintf("segments of 32 MB make Rabenseifner's algorithm faster for large vectors on %d ranks", p), Kind: Gain,
			Paper: gain, Number: faster(sweep.Lines[1].Name, nameHalving, p),
		})
	}
	f.Claims = append(f.Claims, Claim{
		Text: "segments of 32 MB make the ring faster for large vectors", Kind: Gain,
		Paper:  between(4000.0/3500, 4000.0/3000, "Section 5.1: 4000 MB/s where the whole vector falls from 3500 to 3000"),
		Number: faster(segmented, nameRing, 8, 9),
		Why: []Reason{{
			Outcome: Weaker, Ways: []Setting{Simulated},
			Text: "The model folds at one rate: the part of the gain that comes from segments that stay in the cache is left out.",
		}},
	}, Claim{
		Text: "the ring in segments keeps its throughput at the longest vectors", Kind: Alike,
		Paper:  exactly(1, "Section 5.1: 4000 MB/s"),
		Number: func(t *SweepTimes) float64 { return t.tail(segmented, 8) },
	})
	return f
}

// tail is the throughput of a line at the longest vectors by that at the second longest.
func (t *SweepTimes) tail(line string, ranks int) float64 {
	n := len(t.Grid.Bytes)
	if n < 2 {
		return math.NaN()
	}
	last, before := t.Grid.Bytes[n-1], t.Grid.Bytes[n-2]
	return t.seconds(line, ranks, before) / t.seconds(line, ranks, last) * float64(last) / float64(before)
}

// pipelined4 is Fig. 4.
func pipelined4() Figure {
	const noOp = " without arithmetic"
	lines := concurrent(nameRing, "ring", 1, 4)
	for _, line := range lines {
		line.Name, line.NoOp = line.Name+noOp, true
		lines = append(lines, line)
	}
	exposed := func(line string) func(*SweepTimes) float64 {
		return func(t *SweepTimes) float64 {
			return 1 - 1/t.Faster(line+noOp, line, t.Grid.Ranks, t.Grid.LargeBytes())
		}
	}
	return Figure{
		Name: "pipelined-4", Paper: pipelined, Place: "Fig. 4", Title: "Where the gain comes from",
		About: "Allreduce by the ring, with the arithmetic and with an operation that does nothing: what is missing is arithmetic that is not hidden behind transfers.",
		Sweep: &Sweep{Op: schedule.AllReduce, Machine: edr(), Grids: grids(8, 9), Lines: lines},
		Claims: []Claim{{
			Text: "part of the ring's time that is arithmetic, for large vectors", Kind: Share,
			Paper: between(0.28, 0.37, "Section 5.3"), Number: exposed(nameRing),
		}, {
			Text: "part of the time that is arithmetic with four segments under way, for large vectors", Kind: Share,
			Paper: between(0, 0.14, "Section 5.3"), Number: exposed(times(nameRing, 4)),
		}},
	}
}
