package figure

import (
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// eventualFigures returns the figures of the paper on eventually consistent collectives.
func eventualFigures() []Figure {
	return slices.Concat(staleFigures(), []Figure{
		quarter(8, schedule.Broadcast, "Broadcast", "sent", between(3.25, 3.58, "Section V-b")),
		quarter(9, schedule.Reduce, "Reduction", "sent and folded", exactly(5, `Section V-c: "roughly 5x"`)),
		eventual10(), eventual11(), eventual12(), eventual13(),
	})
}

// The lengths that the paper measures at: 10,000 and 1,000,000 doubles.
const (
	tenThousand = 10_000 * elementBytes
	million     = 1_000_000 * elementBytes
)

// thresholdGrids are the paper's points, and ranks and lengths that two cores can carry.
func thresholdGrids() map[Setting]Grid {
	emulated := emulatedGrid(2, 4, 8)
	emulated.Bytes, emulated.Large = []int{tenThousand, million / 8}, million/8
	return map[Setting]Grid{
		Simulated: {Ranks: []int{2, 4, 8, 16, 32}, Bytes: []int{tenThousand, million}, Large: million},
		Emulated:  emulated,
		Raw:       {Ranks: []int{2, 4, 8}, Bytes: []int{tenThousand, million}, Large: million},
	}
}

// parts are lines of an algorithm that works on a part of something.
func parts(algorithm string, set func(line *Line, part float64)) []Line {
	var lines []Line
	for _, part := range []float64{0.25, 0.5, 0.75, 1} {
		line := Line{Name: percent(part), Algorithm: algorithm}
		if part < 1 {
			set(&line, part)
		}
		lines = append(lines, line)
	}
	return lines
}

// percent is the name of a line that works on a part.
func percent(part float64) string { return fmt.Sprintf("%.0f %%", 100*part) }

func dataPart(line *Line, part float64)    { line.Threshold = part }
func processPart(line *Line, part float64) { line.Processes = part }

// large is the number of a claim over all ranks, for large vectors.
func large(line, than string) func(*SweepTimes) float64 {
	return func(t *SweepTimes) float64 { return t.Faster(line, than, t.Grid.Ranks, t.Grid.LargeBytes()) }
}

// overLatency explains a gain that is smaller because part of the time does not depend on
// the length.
var overLatency = Reason{
	Outcome: Weaker, Ways: []Setting{Simulated, Emulated},
	Text: "Part of the time does not depend on the length, and that part a quarter of the data does not save.",
}

// onlyBytes explains a gain that is larger because nothing else takes time.
var onlyBytes = Reason{
	Outcome: Stronger, Ways: []Setting{Simulated, Emulated},
	Text: "Beside the bytes next to nothing takes time here, so that a quarter of them takes about a quarter of it.",
}

// quarter is Fig. 8 or 9: an operation along a binomial tree on a part of the data.
func quarter(number int, op schedule.Operation, title, about string, paper Reading) Figure {
	return Figure{
		Name: fmt.Sprintf("eventual-%d", number), Paper: eventual, Place: fmt.Sprintf("Fig. %d", number), Title: title + " of a part of the data",
		About: title + " along a binomial tree, of which only the first 25 to 100 % of 10,000 and 1,000,000 doubles is " + about + ".",
		Sweep: &Sweep{Op: op, Machine: fdr(), Grids: thresholdGrids(), Lines: parts("binomial", dataPart)},
		Chart: ChartForm{OverRanks: true, AsTime: true},
		Claims: []Claim{{
			Text: "a quarter of 1,000,000 doubles is faster than all", Kind: Gain, Paper: paper,
			Number: large(percent(0.25), percent(1)), Why: []Reason{overLatency, onlyBytes},
		}},
	}
}

// eventual10 is Fig. 10.
func eventual10() Figure {
	grids := thresholdGrids()
	for way, g := range grids {
		g.Bytes = g.LargeBytes()
		g.Ranks = slices.DeleteFunc(slices.Clone(g.Ranks), func(p int) bool { return p < 8 }) // of which a quarter is two
		if way != Simulated {
			g.Ranks = append(g.Ranks, 16)
		}
		grids[way] = g
	}
	return Figure{
		Name: "eventual-10", Paper: eventual, Place: "Fig. 10", Title: "Reduction over a part of the processes",
		About: "Reduction of 1,000,000 doubles along a binomial tree, in which at least 25 to 100 % of the ranks engage: whole stages of the tree, those nearest the root first.",
		Sweep: &Sweep{Op: schedule.Reduce, Machine: fdr(), Grids: grids, Lines: parts("binomial", processPart)},
		Chart: ChartForm{OverRanks: true, AsTime: true},
		Claims: []Claim{{
			Text: "75 % of the ranks take as long as all", Kind: Alike, Paper: exactly(1, "Section V-c: identical, since half of the ranks join in the last stage"), Number: large(percent(0.75), percent(1)),
		}, {
			Text: "50 % of the ranks are faster than all", Kind: Gain, Paper: saying("faster", "Section V-c"),
			Number: large(percent(0.5), percent(1)),
		}, {
			Text: "25 % of the ranks are faster than 50 %", Kind: Gain, Paper: saying("faster", "Section V-c"),
			Number: large(percent(0.25), percent(0.5)),
		}},
	}
}

// Lines of Figs. 11 and 12.
const segmentedRing = "segmented ring"

// ringRivals are lines of allreduce: the paper's ring, and what it met.
func ringRivals() []Line {
	return []Line{
		{Name: segmentedRing, Algorithm: "ring", Segments: 2},
		whole(nameRing, "ring"), whole(nameDoubling, "doubling"), whole(nameHalving, "halving"), whole(nameBinomial, "binomial"),
	}
}

// rivals are the names of what the segmented ring is compared with.
func rivals() []string { return []string{nameRing, nameDoubling, nameHalving, nameBinomial} }

// overRivals is how many times as fast the segmented ring is as the best other at one
// length, on the most ranks of the grid.
func overRivals(bytes func(Grid) int) func(*SweepTimes) float64 {
	return func(t *SweepTimes) float64 {
		return t.FasterThanBest(segmentedRing, rivals(), slices.Max(t.Grid.Ranks), bytes(t.Grid))
	}
}

func shortest(g Grid) int { return slices.Min(g.Bytes) }
func longest(g Grid) int  { return slices.Max(g.Bytes) }

// eventual11 is Fig. 11.
func eventual11() Figure {
	return Figure{
		Name: "eventual-11", Paper: eventual, Place: "Fig. 11", Title: "The segmented ring beside other algorithms",
		About: "Allreduce of 10,000 and 1,000,000 doubles by a ring in segments, and by the algorithms of MPI.",
		Sweep: &Sweep{Op: schedule.AllReduce, Machine: fdr(), Grids: thresholdGrids(), Lines: ringRivals()},
		Chart: ChartForm{OverRanks: true, AsTime: true},
		Claims: []Claim{{
			Text: "the segmented ring is faster than the best other for 1,000,000 doubles", Kind: Gain,
			Paper: exactly(1.78, "Section V-d: over Shumilin's ring, the best of MPI"), Number: overRivals(longest),
		}, {
			Text: "the best other is faster than the segmented ring for 10,000 doubles", Kind: Gain,
			Paper:  saying("significantly better", "Section V-d"),
			Number: func(t *SweepTimes) float64 { return 1 / overRivals(shortest)(t) },
			Why: []Reason{{
				Outcome: Reversed, Text: "A step of the ring is one put with its notification, which is cheap enough here for vectors this short.",
			}, {
				Outcome: Absent, Text: "A step of the ring is one put with its notification, which is cheap enough here for vectors this short.",
			}},
		}},
	}
}

// eventual12 is Fig. 12.
func eventual12() Figure {
	emulated, raw := emulatedGrid(8), rawGrid(8)
	emulated.Bytes = powers(4*kib, mib, 2)
	raw.Bytes = powers(8*kib, 2*mib, 2)
	return Figure{
		Name: "eventual-12", Paper: eventual, Place: "Fig. 12", Title: "Allreduce by length",
		About: "Allreduce of 1,024 to 8 million doubles on 32 ranks.",
		Sweep: &Sweep{
			Op: schedule.AllReduce, Machine: fdr(), Lines: ringRivals(),
			Grids: map[Setting]Grid{
				Simulated: {Ranks: []int{32}, Bytes: powers(8*kib, 64*mib, 1), Large: 2 * mib}, Emulated: emulated, Raw: raw,
			},
		},
		Chart: ChartForm{AsTime: true, LogY: true},
		Claims: []Claim{{
			Text: "length from which on the segmented ring is fastest", Kind: Crossover,
			Paper:  between(mib, 2*mib, "Section V-d: slower up to 1,048 KB, faster from 2,097 KB on"),
			Number: func(t *SweepTimes) float64 { return t.Crossover(segmentedRing, rivals(), t.Grid.Ranks[0], 1) },
			Why: []Reason{{
				Outcome: Stronger, Text: "A step of the ring costs a put and a notification, so it wins from shorter vectors on; on fewer ranks it also has fewer steps.",
			}},
		}, {
			Text: "the segmented ring is faster than the best other for the longest vectors", Kind: Gain,
			Paper: between(2.07, 2.13, "Section V-d: over the rings of MPI at 67 MB"), Number: overRivals(longest),
		}, {
			Text: "the segmented ring is faster than recursive doubling for the longest vectors", Kind: Gain,
			Paper: saying("faster", "Fig. 12"),
			Number: func(t *SweepTimes) float64 {
				return t.Faster(segmentedRing, nameDoubling, t.Grid.Ranks, t.Grid.Bytes[len(t.Grid.Bytes)-1:])
			},
		}},
	}
}

// eventual13 is Fig. 13: four ranks per node in the simulation, all on one elsewhere.
func eventual13() Figure {
	const direct, pairwise, bruck = "direct", "pairwise", "bruck"
	emulated, raw := emulatedGrid(8, 16), Grid{Ranks: []int{8, 16}, Bytes: []int{8, 256, 1024, 8 * kib, 32 * kib}, Large: 32 * kib}
	emulated.Bytes, emulated.Large, emulated.FoldRate = []int{256, 2 * kib, 8 * kib, 32 * kib}, 32*kib, 0
	f := Figure{
		Name: "eventual-13", Paper: eventual, Place: "Fig. 13", Title: "Alltoall by a put to everybody",
		About: "Alltoall of blocks of 8 bytes to 32 KiB: every rank puts all its blocks at once (direct), in rounds (pairwise), or in log P steps (bruck).",
		Sweep: &Sweep{
			Op: schedule.AllToAll, Machine: omniPath(), Lines: []Line{whole(direct, direct), whole(pairwise, pairwise), whole(bruck, bruck), whole(nameChosen, auto)},
			Grids: map[Setting]Grid{
				Simulated: {Ranks: []int{16, 32, 64}, Bytes: powers(8, 32*kib, 1), Large: 32 * kib}, Emulated: emulated, Raw: raw,
			},
		},
		Chart: ChartForm{AsTime: true, LogY: true},
	}
	busy := []Reason{{
		Outcome: Absent, Ways: []Setting{Simulated},
		Text: "Blocks this long keep the link of a node busy in either way:", Detail: busyLinks(&f.Sweep.Machine, direct, pairwise),
	}}
	f.Claims = []Claim{{
		Text: "direct is faster than pairwise for blocks of 32 KiB", Kind: Gain,
		Paper: between(2.85, 5.14, "Section V-e: over MPI's choice, on 4 to 16 nodes"), Number: large(direct, pairwise), Why: busy,
	}, {
		Text: "direct and the better of the others are alike for blocks of at most 1 KiB", Kind: Alike,
		Paper: saying("similar", "Section V-e: up to about 1,024 bytes"),
		Number: func(t *SweepTimes) float64 {
			var ratios []float64
			for _, p := range t.Grid.Ranks {
				for _, n := range t.Grid.Bytes {
					if n <= 1024 {
						ratios = append(ratios, t.FasterThanBest(direct, []string{pairwise, bruck}, p, n))
					}
				}
			}
			return stat.GeometricMean(ratios, nil)
		},
		Why: []Reason{{
			Outcome: Absent,
			Text:    "For short blocks messages count, not bytes: direct sends P-1 of them from every rank and Bruck's algorithm log P. The library chooses by length, so the line of its choice is the one to compare.",
		}},
	}}
	return f
}

// busyLinks says how much of what the busiest link of a node can carry each of two
// lines of an AllToAll uses, at the longest blocks.
func busyLinks(m *price.Machine, lines ...string) func(*SweepTimes) string {
	return func(t *SweepTimes) string {
		block := longest(t.Grid)
		var parts []string
		for _, line := range lines {
			var shares []string
			for _, p := range t.Grid.Ranks {
				x, ok := t.At(line, p, block)
				if !ok {
					continue
				}
				bytes := float64(block * m.RanksPerNode * (p - m.RanksPerNode)) // that leave a node
				shares = append(shares, fmt.Sprintf("%.0f", 100*bytes/m.Bandwidth/x.Seconds))
			}
			parts = append(parts, fmt.Sprintf("%s %s %%", line, strings.Join(shares, ", ")))
		}
		return strings.Join(parts, " and ") + fmt.Sprintf(" of the time on %v ranks. What MPI lost it lost by waiting for every round of messages to be over.", t.Grid.Ranks)
	}
}
