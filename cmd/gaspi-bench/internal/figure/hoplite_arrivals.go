package figure

import (
	"math"
)

// arrivalBytes is a fourth of what 1 GB is on emulated links, so that the runs, of which
// each lasts until the last of 16 ranks has joined, do not take minutes.
var arrivalBytes = scaled(paperGB / 4)

// arrivalParts are intervals of Fig. 7, in parts of what the object takes on a link.
func arrivalParts() []float64 { return []float64{0, 0.12} }

// arrivalKey is an interval as Times has it.
func arrivalKey(part float64) int {
	return join{arrivalBytes, intervalOf(part, arrivalBytes, objectRate)}.key()
}

func hoplite7() Figure {
	return hopliteFigure(Figure{
		Name: "hoplite-7", Place: "Fig. 7", Title: "Broadcast and reduce while ranks join one after the other",
		About: "16 ranks join at an interval of 12 % of what the object takes on a link. A rank gets the object, or puts its own, as soon as it joins; beside it static schedules that ranks call as soon as they join. Times begin when the last has joined.",
		Ways:  onLinks(),
		Claims: []Claim{{
			Text: "a broadcast whose ranks join together is faster than scatter and ring allgather", Kind: Gain, Paper: exactly(1.9, "Fig. 7a and Section 6.1"),
			Number: overAt("broadcast", 0),
		}, {
			Text: "a broadcast ends, after the last rank has joined, like one of two ranks, at every interval; at worst", Kind: Alike,
			Paper: saying("independent of the order in which ranks join", "Section 6.1"), Number: worstAfterLast("broadcast"),
		}, {
			Text: "a reduce whose ranks join together is faster than reduce-scatter and gather", Kind: Gain, Paper: saying("faster", "Fig. 7b"),
			Number: overAt("reduce", 0),
		}, {
			Text: "a reduce ends, after the last rank has joined, like one of two ranks, at every interval; at worst", Kind: Alike,
			Paper: saying("significant progress before the last object is ready", "Section 6.1"), Number: worstAfterLast("reduce"),
		}, {
			Text: "a reduce whose ranks join apart is faster after the last rank has joined than reduce-scatter and gather, which wait for all", Kind: Gain,
			Paper: saying("MPI waits until all are ready", "Section 6.1"), Number: overAt("reduce", 0.12),
		}},
	}, func(*Lab, Setting) *objectFigure {
		var runs []objectRun
		for _, op := range []string{"broadcast", "reduce"} {
			_, static := staticOf(op)
			runs = append(runs, objectRun{op: op, static: static, ranks: []int{16}, bytes: []int{arrivalBytes}, joins: arrivalParts()})
		}
		return emulatedObjects(runs...)
	})
}

// overAt is how many times as long the static schedule takes as the store at an interval.
func overAt(op string, part float64) func(*SweepTimes) float64 {
	_, static := staticOf(op)
	return over(op, static, lineStore, 16, func(Setting) int { return arrivalKey(part) })
}

// worstAfterLast is the most that the store takes, over all intervals, in terms of one
// transfer on a link.
func worstAfterLast(op string) func(*SweepTimes) float64 {
	return func(t *SweepTimes) float64 {
		worst := math.NaN()
		for _, part := range arrivalParts() {
			x := over(op, lineStore, lineLinks, 16, func(Setting) int { return arrivalKey(part) })(t)
			if !math.IsNaN(x) && !(x <= worst) { // also the first, which is greater than no number
				worst = x
			}
		}
		return worst
	}
}

// serverBytes stand for the parameters of Fig. 8: a fourth of 200 MB.
var serverBytes = scaled(200e6 / 4)

// flat is what a server does that sends to and receives from each worker.
const flat = "flat"

func hoplite8() Figure {
	return hopliteFigure(Figure{
		Name: "hoplite-8", Place: "Fig. 8a", Title: "A step of a synchronous parameter server",
		About: "The traffic of a step: gradients of all ranks are reduced and the new parameters go to all, as an allreduce through the store; beside it a server that receives from each and sends to each. Computing is left out, and so is Fig. 8b: both are in examples/paramserver, which trains a model.",
		Ways:  onLinks(),
		Claims: []Claim{{
			Text: "a step of 8 ranks is faster with the store", Kind: Gain, Paper: exactly(5, "Section 6.2"), Number: step8(8),
		}, {
			Text: "a step of 16 ranks is faster with the store", Kind: Gain, Paper: exactly(8, "Section 6.2"), Number: step8(16),
			Why: []Reason{{
				Outcome: Stronger, Text: "Without computing, nothing but transfers is left to be faster.",
			}},
		}},
	}, func(*Lab, Setting) *objectFigure {
		var runs []objectRun
		for _, op := range []string{"allreduce", "reduce", "broadcast"} {
			r := objectRun{op: op, ranks: []int{8, 16}, bytes: []int{serverBytes}}
			if op != "allreduce" {
				r.static = flat
			}
			runs = append(runs, r)
		}
		return emulatedObjects(runs...)
	})
}

// step8 is how many times as long a step takes with a flat reduce and a flat broadcast.
func step8(ranks int) func(*SweepTimes) float64 {
	return func(t *SweepTimes) float64 {
		seconds := func(op, line string) float64 { return t.seconds(object(op, line), ranks, serverBytes) }
		return (seconds("reduce", flat) + seconds("broadcast", flat)) / seconds("allreduce", lineStore)
	}
}
