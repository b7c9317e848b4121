package figure

import (
	"fmt"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// pipelinedOthers are Figs. 5 to 7: operations beside allreduce.
func pipelinedOthers() []Figure { return []Figure{pipelined5(), pipelined6(), pipelined7()} }

// pipelined5 is Fig. 5, a negative result.
func pipelined5() Figure {
	const name = "LIN (linear)"
	lines := concurrent(name, "linear", 1, 2, 4, 8)
	f := Figure{
		Name: "pipelined-5", Paper: pipelined, Place: "Fig. 5", Title: "Allgather gains nothing from segments",
		About: "Every rank sends its block to all others, in 1 to 8 segments: more messages, and links that were busy before.",
		Sweep: &Sweep{Op: schedule.AllGather, Machine: edr(), Grids: grids(7, 8), Lines: lines},
	}
	for _, p := range []int{7, 8} {
		f.Claims = append(f.Claims, Claim{
			Text: fmt.Sprintf("four segments do not make a linear allgather faster on %d ranks", p), Kind: NoGain,
			Paper:  between(0.9, 1, "Section 6.1: no improvement, a loss in part"),
			Number: faster(times(name, 4), name, p),
			Why: []Reason{{
				Outcome: Reversed, Ways: []Setting{Emulated},
				Text: "The gain is not one of links, which are busy either way: with several puts under way a rank that lost its processor to another leaves fewer gaps.",
			}, {
				Outcome: Stronger, Ways: []Setting{Emulated},
				Text: "The links are busy either way, and each further message costs the few cores that carry all ranks some time.",
			}},
		})
	}
	return f
}

// pipelined6 is Fig. 6. The chain that the paper starts from is cut into segments
// already; each of its segments is cut into four.
func pipelined6() Figure {
	lines := concurrent("chain", "chain", 1, 8, 16, 32)
	paper := []Reading{
		exactly(3500.0/2400, "Section 6.2: from 2400 to 3500 MB/s"), exactly(3250.0/1900, "Section 6.2: from 1900 to 3250 MB/s"),
	}
	f := Figure{
		Name: "pipelined-6", Paper: pipelined, Place: "Fig. 6", Title: "Broadcast along a chain in more segments",
		About: "A chain of 8 segments, cut into twice and four times as many. The chain in one piece stores whole vectors before it forwards them.",
		Sweep: &Sweep{Op: schedule.Broadcast, Machine: edr(), Grids: grids(7, 8), Lines: lines},
	}
	for i, p := range []int{7, 8} {
		f.Claims = append(f.Claims, Claim{
			Text: fmt.Sprintf("four times as many segments make the chain faster for large vectors on %d ranks", p), Kind: Gain,
			Paper: paper[i], Number: faster(times("chain", 32), times("chain", 8), p),
			Why: []Reason{{
				Outcome: Weaker, Ways: []Setting{Emulated},
				Text: "Segments are short here, so that what each message costs eats part of the gain.",
			}},
		})
	}
	return f
}

// pipelined7 is Fig. 7.
func pipelined7() Figure {
	const name = "ring"
	f := Figure{
		Name: "pipelined-7", Paper: pipelined, Place: "Fig. 7", Title: "Reduce-scatter in segments",
		About: "Reduce-scatter by a ring in 1 to 8 segments.",
		Sweep: &Sweep{Op: schedule.ReduceScatter, Machine: edr(), Grids: grids(7, 8), Lines: concurrent(name, "ring", 1, 2, 4, 8)},
	}
	g := f.Sweep.Grids[Simulated]
	g.Large = 16 * mib
	f.Sweep.Grids[Simulated] = g
	f.Claims = []Claim{{
		Text: "four segments make reduce-scatter faster for large vectors", Kind: Gain,
		Paper:  saying("about +100 MB/s", "Section 6.3"),
		Number: faster(times(name, 4), name, 7, 8),
	}, {
		Text: "four segments do not make it faster for shorter vectors", Kind: NoGain,
		Paper:  saying("one segment is best below 16 MB", "Section 6.3"),
		Number: func(t *SweepTimes) float64 { return t.Faster(times(name, 4), name, []int{7, 8}, t.Grid.smallBytes()) },
		Why: []Reason{{
			Outcome: Reversed, Ways: []Setting{Simulated, Emulated},
			Text: "A segment costs us a put and a notification; in the paper's library it is a collective call, which is dear enough to eat the gain below 16 MB.",
		}},
	}}
	return f
}

// smallBytes are the lengths that do not count as large.
func (g Grid) smallBytes() []int { return g.Bytes[:len(g.Bytes)-len(g.LargeBytes())] }
