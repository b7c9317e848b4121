package executor

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/algorithms"
)

// Goal: what a plan takes grows with the ranks as its steps do, and no faster.
// Method: allocations and bytes of the schedule and the executable of one of many members, by algorithms with
// some steps for each other member. A step has an instruction, and at most two operands; of copies that follow each
// other at equal distances, which are most of Bruck's, all together have one, and three.
func TestPlansAreSmall(t *testing.T) {
	const fixed = 4 << 10
	for _, of := range []struct {
		name               string
		radix, bytesOfStep int
	}{{"direct", 0, 112}, {"pairwise", 0, 112}, {"flip", 0, 112}, {"shared", 0, 112}, {"bruck", 0, 48}, {"bruck", 16, 24}} {
		name, bytesOfStep := of.name, of.bytesOfStep
		a, err := algorithms.Lookup(schedule.AllToAll, name)
		if err != nil {
			t.Fatal(err)
		}
		var before uint64
		for _, size := range []int{32, 64, 128} {
			call := schedule.Call{Op: schedule.AllToAll, Size: size, Count: 1, Line: 8, Nodes: make([]int, size), Radix: of.radix}
			onMembers(t, size, func(_ context.Context, m *Member, barrier func() error) error {
				if err := barrier(); err != nil || m.Me != 0 {
					return err
				}
				steps := 0
				var maker schedule.Maker
				b := bindingOf(m, &call, a.Emit)
				plan := func() (err error) {
					b.Schedule = maker.Build(&call, m.Me, a.Emit)
					steps = b.Schedule.Steps()
					_, err = Compile(m, b)
					maker.Free(b.Schedule)
					return err
				}
				allocations, bytes, err := least(plan)
				if err != nil {
					return err
				}
				t.Logf("%s, %d ranks: %d steps, %d allocations, %d bytes", name, size, steps, allocations, bytes)
				if before > 0 && allocations > before+8 {
					return fmt.Errorf("%s: %d allocations of %d ranks, and %d of half as many", name, allocations, size, before)
				}
				if bytes > uint64(bytesOfStep*steps+fixed) {
					return fmt.Errorf("%s: %d bytes for %d steps, want %d for each at most", name, bytes, steps, bytesOfStep)
				}
				before = allocations
				return nil
			})
		}
	}
}

// least returns the fewest allocations and bytes that a function takes of several times: the first ones
// find no memory of earlier ones, and other members allocate until they sleep.
func least(f func() error) (allocations, bytes uint64, err error) {
	allocations, bytes = 1<<62, 1<<62
	var before, after runtime.MemStats
	for range 100 {
		runtime.ReadMemStats(&before)
		if err := f(); err != nil {
			return 0, 0, err
		}
		runtime.ReadMemStats(&after)
		allocations, bytes = min(allocations, after.Mallocs-before.Mallocs), min(bytes, after.TotalAlloc-before.TotalAlloc)
	}
	return allocations, bytes, nil
}
