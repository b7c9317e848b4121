package figure

import (
	"fmt"
	"slices"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// pipelinedFigures returns the figures of the paper on pipelined allreduce.
func pipelinedFigures() []Figure {
	return slices.Concat(
		[]Figure{pipelinedTable1(), pipelined1(), pipelined2(), pipelined3(), pipelined4()},
		pipelinedOthers(), []Figure{pipelined8(), pipelined9()}, pipelinedAppendix(),
	)
}

// Names of lines, as the paper has them.
const (
	nameDoubling = "RDB (recursive doubling)"
	nameHalving  = "RSA (Rabenseifner)"
	nameRing     = "RNG (ring)"
	nameBinomial = "BIN (binomial)"
	nameChosen   = "chosen by the library"
	nameFolded   = "RSA as in MPI"
)

// emulatedLink is slow enough that two cores carry eight ranks and more: a message costs
// them some 50 us, in which it moves 1 KB, and they have a quarter of its latency to
// deliver late.
const (
	emulatedLink = "latency=400us,bandwidth=25MB/s"
	emulatedRate = 25e6 // bytes per second
)

// emulatedGrid has as many ranks as the paper, and vectors of which the longest moves
// along a ring in some 80 ms. A rank folds as fast as its link moves, as in the paper.
func emulatedGrid(ranks ...int) Grid {
	return Grid{
		Ranks: ranks, Bytes: []int{16 * kib, 128 * kib, mib}, Large: mib,
		FoldRate: emulatedRate, Link: emulatedLink,
	}
}

// rawGrid has vectors that are in the caches of two cores, and that are not.

func rawGrid(ranks ...int) Grid {
	return Grid{Ranks: ranks, Bytes: []int{16 * kib, 256 * kib, 2 * mib}, Large: 2 * mib}
}

// simulatedGrid is the paper's: up to 1 GiB, where 32 MiB is large.
func simulatedGrid(ranks ...int) Grid {
	return Grid{Ranks: ranks, Bytes: powers(kib, gib, 2), Large: 32 * mib}
}

// grids are all three for the same numbers of ranks.
func grids(ranks ...int) map[Setting]Grid {
	return map[Setting]Grid{Simulated: simulatedGrid(ranks...), Emulated: emulatedGrid(ranks...), Raw: rawGrid(ranks...)}
}

// whole are lines that do a call in one piece.
func whole(name, algorithm string) Line { return Line{Name: name, Algorithm: algorithm} }

// concurrent are the paper's NBLxK of an algorithm, K = 1 being the call in one piece.
func concurrent(name, algorithm string, counts ...int) []Line {
	var lines []Line
	for _, k := range counts {
		line := whole(name, algorithm)
		if k > 1 {
			line.Name, line.Segments = times(name, k), k
		}
		lines = append(lines, line)
	}
	return lines
}

// times is the name of a line of k segments.
func times(name string, k int) string { return fmt.Sprintf("%s x%d", name, k) }

// faster is the number of a claim that one line is faster than another for large
// vectors.
func faster(line, than string, ranks ...int) func(*SweepTimes) float64 {
	return func(t *SweepTimes) float64 { return t.Faster(line, than, ranks, t.Grid.LargeBytes()) }
}

// pipelined1 is Fig. 1.
func pipelined1() Figure {
	f := Figure{
		Name: "pipelined-1", Paper: pipelined, Place: "Fig. 1", Title: "Algorithms of allreduce",
		About: "Throughput (length by time) of allreduce by each algorithm, on 8 and 9 nodes.",
		Sweep: &Sweep{
			Op: schedule.AllReduce, Machine: edr(), Grids: grids(8, 9),
			Lines: []Line{
				whole(nameDoubling, "doubling"), whole(nameHalving, "halving"), whole(nameRing, "ring"),
				whole(nameBinomial, "binomial"), whole(nameChosen, auto), {Name: nameFolded, Emit: foldedHalving},
			},
		},
	}
	for _, p := range []int{8, 9} {
		f.Claims = append(f.Claims, Claim{
			Text: fmt.Sprintf("the ring is faster than Rabenseifner's algorithm for large vectors on %d ranks", p),
			Kind: Gain, Paper: exactly(2, `Section 5.2: "outperforms AUTO by a factor of two"`),
			Number: faster(nameRing, nameHalving, p), Why: ringOverHalving(p),
		})
	}
	f.Claims = append(f.Claims, Claim{
		Text: "the ring is faster than recursive doubling for large vectors", Kind: Gain,
		Paper:  saying("best of all", "Section 4.2"),
		Number: faster(nameRing, nameDoubling, 8, 9),
	}, Claim{
		Text: "the ring is faster than a tree for large vectors", Kind: Gain,
		Paper:  saying("best of all", "Section 4.2"),
		Number: faster(nameRing, nameBinomial, 8, 9),
	}, Claim{
		Text: "what the library chooses is faster than Rabenseifner's algorithm, which MPI chose, for large vectors on 9 ranks", Kind: Gain,
		Paper:  between(3000.0/800, 4000.0/800, "Section 5.2: 800 MB/s by AUTO, 3000 to 4000 by the ring"),
		Number: faster(nameChosen, nameHalving, 9), Why: ringOverHalving(9),
	})
	return f
}

// ringOverHalving explains what becomes of the ring's lead over Rabenseifner's algorithm.
func ringOverHalving(ranks int) []Reason {
	lacking := "The schedules of the library do not explain the paper's factor:"
	return []Reason{
		{Outcome: Absent, Ways: []Setting{Simulated, Emulated}, Text: lacking, Detail: bytesOfBoth(ranks)},
		{Outcome: Weaker, Ways: []Setting{Simulated, Emulated}, Text: lacking, Detail: bytesOfBoth(ranks)},
		{Outcome: Reversed, Ways: []Setting{Simulated, Emulated}, Text: lacking, Detail: bytesOfBoth(ranks)},
	}
}

// bytesOfBoth says what the busiest port moves under each, and how much of the paper's
// factor that leaves to the library that it measured.
func bytesOfBoth(ranks int) func(*SweepTimes) string {
	return func(*SweepTimes) string {
		const n = 5040 // any length that all blocks divide
		halving, err := counts(schedule.AllReduce, "halving", ranks, n)
		if err != nil {
			return err.Error()
		}
		ring, err := counts(schedule.AllReduce, "ring", ranks, n)
		if err != nil {
			return err.Error()
		}
		s := fmt.Sprintf("on the busiest path the ring moves %.2f and folds %.2f vectors, Rabenseifner's algorithm moves %.2f and folds %.2f.",
			ring.Bandwidth/n, ring.Arithmetic/n, halving.Bandwidth/n, halving.Arithmetic/n)
		if halving.Bandwidth <= ring.Bandwidth*(1+near) {
			return s + " They are equals for a power of two, so a factor between them is the implementation that was measured."
		}
		return s + " " + movedOnNine(nil)
	}
}

// movedOnNine says what MPI's way with a rank beyond a power of two costs.
func movedOnNine(*SweepTimes) string {
	const n = 5040
	c := schedule.Call{Op: schedule.AllReduce, Size: 9, Count: n, Line: 1}
	folded, err := price.Cost(&c, foldedHalving)
	if err != nil {
		return err.Error()
	}
	ours, err := counts(schedule.AllReduce, "halving", 9, n)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("MPI's way moves %.2f and folds %.2f vectors on 9 ranks, the library's %.2f and %.2f.",
		folded.Bandwidth/n, folded.Arithmetic/n, ours.Bandwidth/n, ours.Arithmetic/n)
}

// pipelined3 is Fig. 3.
func pipelined3() Figure {
	f := Figure{
		Name: "pipelined-3", Paper: pipelined, Place: "Fig. 3", Title: "Allreduce in a fixed number of segments",
		About: "The vector is cut into 2, 4 or 8 segments that are under way at the same time.",
		Sweep: &Sweep{
			Op: schedule.AllReduce, Machine: edr(), Grids: grids(8, 9),
			Lines: slices.Concat(concurrent(nameRing, "ring", 1, 2, 4, 8), concurrent(nameHalving, "halving", 1, 4),
				[]Line{{Name: nameFolded, Emit: foldedHalving}}),
		},
	}
	for i, p := range []int{8, 9} {
		before := []float64{1400, 800}[i] // MB/s of AUTO
		f.Claims = append(f.Claims, Claim{
			Text: fmt.Sprintf("four segments make the ring faster for large vectors on %d ranks", p), Kind: Gain,
			Paper:  between(1.1, 1.25, `Section 5.2: "up to 25 %"; Fig. 2: 3,500 to 4,000 MB/s`),
			Number: faster(times(nameRing, 4), nameRing, p), Why: fourSegments,
		}, Claim{
			Text: fmt.Sprintf("the ring in four segments is faster than Rabenseifner's algorithm for large vectors on %d ranks", p), Kind: Gain,
			Paper:  exactly(4000/before, fmt.Sprintf("Section 5.2: from %.0f to 4000 MB/s", before)),
			Number: faster(times(nameRing, 4), nameHalving, p), Why: ringOverHalving(p),
		})
	}
	f.Claims = append(f.Claims, Claim{
		Text: "the ring in four segments is faster than Rabenseifner's algorithm as MPI has it for large vectors on 9 ranks", Kind: Gain,
		Paper: exactly(4000.0/800, "Section 5.2: from 800 to 4000 MB/s"), Only: []Setting{Simulated},
		Number: faster(times(nameRing, 4), nameFolded, 9),
	}, Claim{
		Text: "Rabenseifner's algorithm as MPI has it is slower on 9 ranks than on 8, for large vectors", Kind: Gain,
		Paper: exactly(1400.0/800, "Section 5.2: 1400 and 800 MB/s"), Only: []Setting{Simulated},
		Number: func(t *SweepTimes) float64 { return t.slowdown(nameFolded, 8, 9) },
	}, Claim{
		Text: "Rabenseifner's algorithm is slower on 9 ranks than on 8, for large vectors", Kind: Gain,
		Paper:  exactly(1400.0/800, "Section 5.2: 1400 and 800 MB/s"),
		Number: func(t *SweepTimes) float64 { return t.slowdown(nameHalving, 8, 9) },
		Why: []Reason{{
			Outcome: Weaker, Text: "The library cuts 9 ranks into binary blocks of 8 and 1; MPI gives the vector of the ninth to a neighbour before and the result back after.", Detail: movedOnNine,
		}},
	}, Claim{
		Text: "the ring is not slower on 9 ranks than on 8, for large vectors", Kind: Alike,
		Paper:  exactly(1, "Section 5.2: 4000 MB/s both times"),
		Number: func(t *SweepTimes) float64 { return t.slowdown(times(nameRing, 4), 8, 9) },
	}, Claim{
		Text: "length from which on four segments make the ring faster on 8 ranks", Kind: Crossover,
		Paper:  exactly(2*mib, `Section 5.2: "larger than 2 MB"`),
		Number: func(t *SweepTimes) float64 { return t.Crossover(times(nameRing, 4), []string{nameRing}, 8, 1+near) },
		Why: []Reason{{
			Outcome: Stronger, Ways: []Setting{Simulated, Emulated},
			Text: "A segment costs us a put and a notification, not another collective call with a schedule of its own, so shorter vectors gain too.",
		}},
	})
	return f
}

// fourSegments explains what becomes of the gain of the ring in four segments.
var fourSegments = []Reason{{
	Outcome: Stronger, Ways: []Setting{Simulated},
	Text: "In the model all folding but that of the first segment hides behind transfers; the paper's library left up to 14 % of the time exposed (Fig. 4).",
}, {
	Outcome: Stronger, Ways: []Setting{Emulated},
	Text: "Folding takes as long as moving here and a rank does both at once; the paper's library left up to 14 % of the time exposed (Fig. 4).",
}}

// slowdown is how many times as long a line takes on more ranks as on fewer, for large
// vectors.
func (t *SweepTimes) slowdown(line string, ranks, more int) float64 {
	var ratios []float64
	for _, n := range t.Grid.LargeBytes() {
		ratios = append(ratios, t.seconds(line, more, n)/t.seconds(line, ranks, n))
	}
	return mean(ratios)
}
