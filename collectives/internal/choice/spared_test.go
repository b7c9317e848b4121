package choice

import (
	"math"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// Goal: where vectors lie in segments, and ranks do not share memory, what is only copied for puts costs nothing.
// Method: broadcasts, reductions and gathers of 256 KiB through eager memory by 2 ranks, in segments and not, by
// simulation and by the formula; a call of several vectors, which are folded first.
func TestSparedCopies(t *testing.T) {
	for _, s := range settings() {
		if s.name != "sockets" && s.name != "shared memory" {
			continue
		}
		for _, op := range []schedule.Operation{schedule.Broadcast, schedule.Reduce, schedule.Gather} {
			takes := func(plain bool, vectors int) float64 {
				ch, c := s.call(op, 2, 256<<10, plain)
				at := topologyOf(t, ch, &c)
				for _, v := range ch.Candidates(&c, Settings{}) {
					if v.Algorithm.Name != "eager" || v.Radix != 0 {
						continue
					}
					if v.vectors = vectors; vectors > 1 {
						return ch.estimate(&c, at, v).seconds
					}
					seconds, err := ch.predict(&c, at, v)
					if err != nil {
						t.Fatal(err)
					}
					most := 0.06
					if plain {
						most = 0.13
					}
					if by := ch.estimate(&c, at, v).seconds; s.name == "sockets" && math.Abs(math.Log(by/seconds)) > most {
						t.Errorf("%s: %v, plain %v: %.3g s by the formula, %.3g by simulation", s.name, op, plain, by, seconds)
					}
					return seconds
				}
				t.Fatalf("%v has no eager algorithm", op)
				return 0
			}
			ratio := takes(true, 1) / takes(false, 1)
			if spared := ratio > 1.1; spared != (s.name == "sockets") || !spared && ratio != 1 {
				t.Errorf("%s: %v of plain slices takes %.2f times as long", s.name, op, ratio)
			}
			if ratio := takes(true, 2) / takes(false, 2); ratio != 1 {
				t.Errorf("%s: %v of two plain slices takes %.2f times as long", s.name, op, ratio)
			}
		}
	}
}
