//go:build !race

package executor

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/gaspi-go/gaspi-go/collectives/internal/codec"
	"github.com/gaspi-go/gaspi-go/internal/reduce"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// TestCodingAllocatesNothing runs an executable that codes, sends the form to its own member and
// decodes it there. Not under the race detector, where sync.Pool, which s2 keeps its tables in,
// forgets things at random.
func TestCodingAllocatesNothing(t *testing.T) {
	const n = 5000
	call := schedule.Call{Op: schedule.AllReduce, Size: 1, Count: n, Line: 8}
	emit := func(b *schedule.Builder, c *schedule.Call) {
		n := schedule.CodedLen(c.Count, b.Line())
		m, other, slot := b.Scratch(n), b.Scratch(n), b.Slots(1)
		b.Encode(m.At(0, 0, n), b.In(0, 0, c.Count))
		b.Put(other.At(0, 0, n), m.At(0, 0, n), slot)
		b.Await(slot)
		b.Decode(b.Out(0, 0, c.Count), other.At(0, 0, n))
	}
	onMembers(t, 1, func(ctx context.Context, m *Member, _ func() error) error {
		for _, how := range []codec.Method{codec.Lossless(), codec.ErrorBound(1e-3), codec.TopK(0.1)} {
			b := bindingOf(m, &call, emit)
			b.Compress, b.Remember = how, true
			x, err := Compile(m, b)
			if err != nil {
				return err
			}
			var e Execution
			e.Prepare(m, &x)
			buf := reduce.BytesOf(make([]float64, n))
			again := func() {
				e.Bind(buf, buf, nil, nil)
				err = errors.Join(err, run(ctx, &e))
			}
			allocs := testing.AllocsPerRun(20, again)
			if err != nil {
				return err
			}
			if allocs >= 1 || x.Ratio() > 0.5 {
				return fmt.Errorf("%v: %v allocations in a run, forms have %v of the bytes", how, allocs, x.Ratio())
			}
		}
		return nil
	})
}
