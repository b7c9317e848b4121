package figure

import (
	"fmt"
	"slices"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// pipelinedAppendix are Figs. 11 to 14: libraries of MPI, other networks, more ranks.
func pipelinedAppendix() []Figure {
	return []Figure{
		ofLibrary("pipelined-11", "Fig. 11, top", "mpich", "MPICH"), ofLibrary("pipelined-12", "Fig. 12", "openmpi", "Open MPI"),
		pipelined13(), pipelined14(),
	}
}

// ofLibrary is a figure of the allreduce that a library chooses, in segments of nonblocking
// calls, beside ours. Ranks are real, so it is raw alone, and needs --peer.
func ofLibrary(name, place, library, title string) Figure {
	f := Figure{
		Name: name, Paper: pipelined, Place: place, Title: "Segments in " + title,
		About: "Allreduce by the algorithm that " + title + " chooses, called once or for 2, 4 or 8 segments that are under way together, beside the ring of this library. Needs --peer " + library + ".",
		Sweep: &Sweep{
			Op: schedule.AllReduce, Grids: map[Setting]Grid{Raw: rawGrid(8, 9)},
			Lines: slices.Concat(concurrent(title, "", 1, 2, 4, 8), concurrent(nameRing, "ring", 1, 4)),
		},
	}
	for i := range f.Sweep.Lines[:4] {
		f.Sweep.Lines[i].Peer = library
	}
	for _, p := range []int{8, 9} {
		f.Claims = append(f.Claims, Claim{
			Text: fmt.Sprintf("four segments make the allreduce of %s faster for large vectors on %d ranks", title, p), Kind: Gain,
			Paper: saying("considerable", "Appendix A.1"), Number: faster(times(title, 4), title, p),
		})
	}
	return f
}

// pipelined13 is Fig. 13.
func pipelined13() Figure {
	return Figure{
		Name: "pipelined-13", Paper: pipelined, Place: "Fig. 13", Title: "Segments on a slower network",
		About: "Allreduce in segments on 8 and 15 nodes of an InfiniBand QDR cluster.",
		Sweep: &Sweep{
			Op: schedule.AllReduce, Machine: qdr(), Grids: grids(8, 15),
			Lines: slices.Concat(concurrent(nameRing, "ring", 1, 4), concurrent(nameHalving, "halving", 1, 4)),
		},
		Claims: []Claim{{
			Text: "four segments make the ring faster for large vectors on 15 ranks", Kind: Gain,
			Paper: saying("visible", "Appendix A.2"), Number: faster(times(nameRing, 4), nameRing, 15),
		}, {
			Text: "four segments make Rabenseifner's algorithm faster for large vectors on 15 ranks", Kind: Gain,
			Paper: saying("visible", "Appendix A.2"), Number: faster(times(nameHalving, 4), nameHalving, 15),
		}},
	}
}

// pipelined14 is Fig. 14. The ranks of its measured grids are those that two cores can
// carry.
func pipelined14() Figure {
	simulated := Grid{Ranks: []int{30, 32}, Bytes: powers(1<<27, 1<<29, 1), Large: 1 << 27}
	emulated, raw := emulatedGrid(12, 16), rawGrid(12, 16)
	emulated.Bytes = []int{512 * kib, mib}
	const name = "AUTO (Rabenseifner)"
	f := Figure{
		Name: "pipelined-14", Paper: pipelined, Place: "Fig. 14", Title: "Segments on more ranks",
		About: "Allreduce by the algorithm that MPI chose, in segments, on 30 and 32 nodes of Marconi100.",
		Sweep: &Sweep{
			Op: schedule.AllReduce, Machine: edr(), Lines: concurrent(name, "halving", 1, 2, 4, 8),
			Grids: map[Setting]Grid{Simulated: simulated, Emulated: emulated, Raw: raw},
		},
	}
	for i, text := range []string{"no power of two", "a power of two"} {
		f.Claims = append(f.Claims, Claim{
			Text: "four segments make it faster where the number of ranks is " + text, Kind: Gain,
			Paper: saying("significant", "Appendix A.3"),
			Number: func(t *SweepTimes) float64 {
				return t.Faster(times(name, 4), name, t.Grid.Ranks[i:i+1], t.Grid.LargeBytes())
			},
		})
	}
	return f
}
