package algorithms

import (
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// Goal: the formula knows which messages of each step go to another node.
// Method: the puts of the schedules of all ranks, on hosts of four and of many sizes.
func TestHalvingRoutes(t *testing.T) {
	uneven := []int{0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 3, 4, 4, 4, 4, 4, 4, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 7, 7, 7, 7, 8, 8, 8}
	fours := make([]int, len(uneven))
	for r := range fours {
		fours[r] = r / 4
	}
	for _, nodes := range [][]int{uneven, fours} {
		for size := 2; size <= len(nodes); size++ {
			c := &schedule.Call{Op: schedule.ReduceScatter, Size: size, Count: 8, Line: 8, Nodes: nodes[:size]}
			s, err := price.NewTopology(new(price.Machine), size, c.Nodes, nil)
			if err != nil {
				t.Fatal(err)
			}
			all, far := make([]int, 8), make([]int, 8)
			for r := range size {
				level := 0
				for _, lane := range schedule.Build(c, r, reduceScatterHalving).Lanes {
					for _, step := range lane {
						if step.Kind != schedule.Put {
							continue
						}
						if all[level]++; nodes[r] != nodes[step.Peer] {
							far[level]++
						}
						level++
					}
				}
			}
			stages := reduceScatterHalvingFormula(s, c).Stages
			for level, puts := range all {
				if (puts > 0) != (level < len(stages)) {
					t.Fatalf("%d ranks: %d stages, and %d puts in step %d", size, len(stages), puts, level)
				}
				if puts > 0 && stages[level].Route.Part != float64(far[level])/float64(puts) {
					t.Errorf("%d ranks, step %d: part %v, want %d of %d", size, level, stages[level].Route.Part, far[level], puts)
				}
			}
		}
	}
}
