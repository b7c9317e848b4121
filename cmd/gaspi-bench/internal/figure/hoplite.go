package figure

import (
	"context"
	"math"
	"time"
)

// The paper's links have 125 us and 10 Gb/s (Section 6), so that 156,250 bytes are under
// way on one. Emulated objects are shorter by as much as less is under way: what is left
// is the number of latencies that an object takes to be moved, 6,400 for 1 GB.
const (
	// Reductions of 16 ranks are more than two cores carry on such links. On links half
	// as fast they are not, but long objects take twice as long, and a report too long.
	objectLink    = "latency=1ms,bandwidth=10MB/s"
	objectLatency = 1e-3
	objectRate    = 10e6
	paperUnderWay = 125e-6 * 1.25e9
	objectScale   = objectLatency * objectRate / paperUnderWay
)

// scaled is the emulated size of an object of the paper's.
func scaled(bytes float64) int { return int(math.Round(bytes*objectScale/4)) * 4 }

// Sizes of the paper.
const (
	paperKB   = 1 << 10
	paper32KB = 32 << 10
	paperMB   = 1e6
	paper32MB = 32e6
	paperGB   = 1e9
	// paperInline is up to which size the paper's directory holds objects (Section 4.1).
	paperInline = 64 << 10
)

// emulatedObjects are runs on links.
func emulatedObjects(runs ...objectRun) *objectFigure {
	return &objectFigure{runs: runs, link: objectLink, rate: objectRate, inline: scaled(paperInline)}
}

// hopliteFigures returns the figures of the paper on Hoplite. None is simulated: the store's
// protocol is no schedule, and its simulator has no links.
func hopliteFigures() []Figure {
	return []Figure{hopliteDirectory(), hoplite5(), hoplite6(), hoplite7(), hoplite8()}
}

// hopliteFigure is a figure of what runs and claims make for a way.
func hopliteFigure(f Figure, make func(lab *Lab, way Setting) *objectFigure) Figure {
	f.Paper = hoplite
	f.Other = func(ctx context.Context, lab *Lab, way Setting, end time.Time) (*Part, error) {
		o := make(lab, way)
		t, err := o.measure(ctx, lab, way, end)
		if err != nil {
			return nil, err
		}
		p := o.part(t)
		p.judge(t, f.claimsIn(way)...)
		return p, nil
	}
	return f
}

// over is how long one line takes in terms of another at a point of a way.
func over(op, line, than string, ranks int, key func(Setting) int) func(*SweepTimes) float64 {
	return func(t *SweepTimes) float64 {
		return t.Faster(object(op, than), object(op, line), []int{ranks}, []int{key(t.Way)})
	}
}

// size returns the paper's size on emulated links, and raw where memory is shared.
func size(paper float64, raw int) func(Setting) int {
	return func(w Setting) int {
		if w == Raw {
			return raw
		}
		return scaled(paper)
	}
}

// onLinks are the ways in which links are what takes time.
func onLinks() []Setting { return []Setting{Emulated} }

// Operations of gaspi-bench, without object-.
const (
	roundTrip = "roundtrip"
	publish   = "publish"
	locate    = "locate"
)

// directoryRanks is how many ranks share the directory: the more, the fewer objects are those
// whose entry the rank that asks holds itself.
const directoryRanks = 8

// hopliteDirectory is the latency of the directory, which the paper states in its text.
func hopliteDirectory() Figure {
	key := size(paperMB, mib)
	return hopliteFigure(Figure{
		Name: "hoplite-directory", Place: "Section 6.1", Title: "Latency of the directory",
		About: "A rank writes the location of an object of 1 MB to the directory, until a question behind it is answered, or asks for that of another rank's object. Beside it a message of 8 bytes and one back. The paper took 167 us for the one and 177 us for the other, and estimates the latency of its links as 125 us.",
		Ways:  []Setting{Emulated, Raw},
		Claims: []Claim{{
			Text: "a location is read in the time in which one is written", Kind: Alike, Paper: exactly(177.0/167, "Section 6.1: 177 and 167 us"),
			Number: func(t *SweepTimes) float64 {
				n := key(t.Way)
				return t.seconds(object(locate, lineStore), directoryRanks, n) / t.seconds(object(publish, lineStore), directoryRanks, n)
			},
		}},
	}, func(_ *Lab, way Setting) *objectFigure {
		var runs []objectRun
		for _, op := range []string{publish, locate} {
			runs = append(runs, objectRun{op: op, limit: true, ranks: []int{directoryRanks}, bytes: []int{key(way)}})
		}
		if way == Raw {
			return &objectFigure{runs: runs}
		}
		return emulatedObjects(runs...)
	})
}

func hoplite5() Figure {
	return hopliteFigure(Figure{
		Name: "hoplite-5", Place: "Fig. 5", Title: "Round trip between two ranks",
		About: "Rank 0 puts an object, rank 1 gets it and puts another, rank 0 gets that. Beside it a write with a notification and another one back, which is what MPI's send and receive are in the paper: the least that a program needs that knows where everything is.",
		Ways:  []Setting{Emulated, Raw},
		Claims: []Claim{{
			Text: "messages are faster than objects of 1 KB", Kind: Gain, Paper: exactly(1.8, "Section 6.1"),
			Number: over(roundTrip, lineStore, lineBare, 2, size(paperKB, kib)),
			Why: []Reason{{
				Outcome: Absent, Ways: onLinks(),
				Text: "The Get is made before the Put: it waits at the directory, whose answer carries the object, so that a trip takes no more messages one after the other than without a directory.",
			}},
		}, {
			Text: "messages are faster than objects of 1 MB", Kind: Gain, Paper: exactly(1.3, "Section 6.1"),
			Number: over(roundTrip, lineStore, lineBare, 2, size(paperMB, mib)),
		}, {
			Text: "objects of 1 GB take as long as messages", Kind: Alike, Paper: exactly(1.002, "Section 6.1"),
			Number: over(roundTrip, lineStore, lineBare, 2, size(paperGB, 64*mib)),
		}},
	}, func(_ *Lab, way Setting) *objectFigure {
		r := objectRun{op: roundTrip, limit: true, ranks: []int{2}}
		if way == Raw {
			r.bytes = []int{kib, mib, 64 * mib}
			return &objectFigure{runs: []objectRun{r}}
		}
		r.bytes = []int{scaled(paperKB), scaled(paperMB), scaled(paperGB)}
		return emulatedObjects(r)
	})
}

// staticOf is what a program has without a store: algorithms that MPI uses for small and
// for large vectors.
func staticOf(op string) (small, large string) {
	switch op {
	case "broadcast":
		return "binomial", "scatter-allgather"
	case "reduce":
		return "binomial", "ring-gather"
	case "allreduce":
		return "doubling", "ring"
	}
	return "binomial", "flat"
}

// beside is how many times as long the static schedule takes as the store.
func beside(op string, ranks int, paper float64, raw int) func(*SweepTimes) float64 {
	_, static := staticOf(op)
	return over(op, static, lineStore, ranks, size(paper, raw))
}

func hoplite6() Figure {
	small, _ := staticOf("broadcast")
	return hopliteFigure(Figure{
		Name: "hoplite-6", Place: "Fig. 6", Title: "Broadcast, gather, reduce and allreduce of objects",
		About: "Objects have been put; then one rank or all get them, or their sum. Beside the store stand the schedules that MPI uses for long vectors, and for short ones, run whole by package collectives; and what the links take alone.",
		Ways:  []Setting{Emulated, Raw},
		Claims: []Claim{{
			Text: "broadcast of 1 GB to 16 ranks is faster than scatter and ring allgather", Kind: Gain, Paper: exactly(1.9, "Section 6.1"),
			Only: onLinks(), Number: beside("broadcast", 16, paperGB, 0),
		}, {
			Text: "broadcast of 32 MB to 4 ranks is faster than scatter and ring allgather", Kind: Gain, Paper: exactly(1.2, "Section 6.1"),
			Number: beside("broadcast", 4, paper32MB, 32*mib),
		}, {
			Text: "broadcast of 1 GB to 16 ranks takes what the links take alone", Kind: Alike, Paper: saying("pipelined", "Section 4.2"),
			Only: onLinks(), Number: over("broadcast", lineStore, lineLinks, 16, size(paperGB, 0)),
		}, {
			Text: "a static tree is faster than the store for 32 KB on 16 ranks", Kind: Gain, Paper: saying("faster", "Section 6.1: up to 1 MB"),
			Only: onLinks(), Number: over("broadcast", lineStore, small, 16, size(paper32KB, 0)),
			Why: []Reason{{
				Outcome: anyMiss, Ways: onLinks(),
				Text: "Objects of this size lie in the directory, which answers each Get at once; a tree passes the vector on from rank to rank, four times.",
			}},
		}, {
			Text: "gather of 32 MB takes as long as the static schedule", Kind: Alike, Paper: exactly(1, "Section 6.1: similar"),
			Only: onLinks(), Number: beside("gather", 4, paper32MB, 0),
		}, {
			Text: "reduce of 1 GB on 16 ranks is as fast as the static schedule, or faster", Kind: NoLoss, Paper: saying("similar or better", "Section 6.1"),
			Only: onLinks(), Number: beside("reduce", 16, paperGB, 0),
		}, {
			Text: "reduce of 1 GB on 16 ranks takes what the links of a chain take alone", Kind: Alike, Paper: saying("pipelined", "Section 4.3"),
			Only: onLinks(), Number: over("reduce", lineStore, lineLinks, 16, size(paperGB, 0)),
		}, {
			Text: "allreduce of 32 MB on 16 ranks is as fast as the static schedule, or faster", Kind: NoLoss, Paper: saying("similar or better", "Section 6.1"),
			Only: onLinks(), Number: beside("allreduce", 16, paper32MB, 0),
			Why: []Reason{{
				Outcome: anyMiss, Ways: onLinks(),
				Text: "A rank in the middle of the chain passes all of the object on twice, to be added and when it is; in a ring a rank sends 2(n-1)/n of it, and all start at once.",
			}},
		}},
	}, collectiveObjects)
}

// collectiveObjects are the runs of Fig. 6. Runs of 1 GB, which take many seconds each, are
// limited to the ones that the paper makes a claim about.
func collectiveObjects(lab *Lab, way Setting) *objectFigure {
	var runs []objectRun
	for _, op := range []string{"broadcast", "gather", "reduce", "allreduce"} {
		small, large := staticOf(op)
		r := objectRun{op: op, static: small + "," + large, ranks: []int{4, 16}}
		if way == Raw {
			r.ranks, r.bytes = []int{4}, []int{kib, mib, 32 * mib}
			runs = append(runs, r)
			continue
		}
		r.bytes = []int{scaled(paper32KB), scaled(paperMB), scaled(paper32MB)}
		if op == "gather" { // of which the busiest link takes as many objects as there are ranks
			r.ranks = []int{4}
		}
		runs = append(runs, r)
		if op == "broadcast" || op == "reduce" {
			if lab.Quick {
				continue
			}
			runs = append(runs, objectRun{op: op, static: large, ranks: []int{16}, bytes: []int{scaled(paperGB)}})
		}
	}
	if way == Raw {
		return &objectFigure{runs: runs}
	}
	return emulatedObjects(runs...)
}
