package figure

import (
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// Goal: it ends, moves what is said of it, and folds every contribution in once.
func TestFoldedHalving(t *testing.T) {
	for _, p := range []int{1, 2, 3, 4, 5, 8, 9, 15, 16, 17} {
		n := 240
		c := schedule.Call{Op: schedule.AllReduce, Size: p, Count: n, Line: 1}
		k, err := price.Cost(&c, foldedHalving)
		if err != nil {
			t.Fatalf("%d ranks: %v", p, err)
		}
		blocks := 1
		for 2*blocks <= p {
			blocks *= 2
		}
		// In all, the vector is folded once for each rank but one.
		res, err := price.Run(&price.Machine{}, &c, func(r int) *schedule.Schedule { return schedule.Build(&c, r, foldedHalving) }, price.Load{})
		if err != nil {
			t.Fatal(err)
		}
		folded := 0
		for _, r := range res.Ranks {
			folded += r.Combined
		}
		if folded != (p-1)*n {
			t.Errorf("%d ranks fold %d elements, want %d", p, folded, (p-1)*n)
		}
		want := 2 * float64(n-n/blocks)
		if p > blocks {
			want += 2 * float64(n)
		}
		if p > 1 && (k.Bandwidth < want*0.97 || k.Bandwidth > want*1.03) {
			t.Errorf("%d ranks move %v elements on the busiest path, want about %v", p, k.Bandwidth, want)
		}
	}
}
