//go:build !race

package collectives_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/ranktest"
)

// Goal: the scratch of teams of ranks that are goroutines is not on the heap, which would be twice as long before the
// collector runs, and would zero all of it when the memory is used again.
// Method: members make a team and use its first scratch and another, and look at the heap.
func TestScratchIsNotOnTheHeap(t *testing.T) {
	ranktest.Local(t, 4, small, func(ctx context.Context, p *gaspi.Proc) error {
		x := make([]float64, largeSum)
		for i := range x {
			x[i] = float64(i)
		}
		before := heapInUse()
		if err := p.Barrier(ctx, p.World()); err != nil {
			return err
		}
		team, err := collectives.NewTeam(ctx, p.World(), collectives.Config{})
		if err != nil {
			return err
		}
		if err := collectives.AllReduce(ctx, team, x, collectives.Sum, whole()); err != nil {
			return err
		}
		if x[3] != 12 {
			return fmt.Errorf("element 3 is %v, want 12", x[3])
		}
		if err := p.Barrier(ctx, p.World()); err != nil {
			return err
		}
		if grown, most := heapInUse()-before, int64(collectives.FirstSlab/2); p.Rank() == 0 && grown > most {
			t.Errorf("the heap has grown by %d bytes, want at most %d", grown, most)
		}
		if err := p.Barrier(ctx, p.World()); err != nil {
			return err
		}
		runtime.KeepAlive(x)
		return team.Close()
	})
}

// heapInUse returns the bytes of the heap that can be reached.
func heapInUse() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
