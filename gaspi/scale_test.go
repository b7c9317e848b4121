package gaspi

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"github.com/gaspi-go/gaspi-go/notify"
)

// heapNow is the bytes of the heap that are in use.
func heapNow() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestMemoryOfManyRanks has 1,024 ranks in one process meet and add up. Apart from its system
// segment, each keeps at most 32 KiB and 160 bytes for each rank.
func TestMemoryOfManyRanks(t *testing.T) {
	cfg := Config{Segments: 8, Groups: 8, Notifications: 64, PassiveMax: 256}
	for _, n := range []int{64, 1024} {
		if n > 64 && testing.Short() {
			continue
		}
		before := heapNow()
		err := Local(t.Context(), n, cfg, func(ctx context.Context, p *Proc) error {
			if err := p.Barrier(ctx, p.World()); err != nil {
				return err
			}
			x := []int64{int64(p.Rank())}
			if err := AllReduce(ctx, p.World(), x, x, Sum); err != nil {
				return err
			}
			if want := int64(n) * int64(n-1) / 2; x[0] != want {
				return fmt.Errorf("the sum is %d, want %d", x[0], want)
			}
			if p.Rank() == 0 {
				segment := p.lay.Size() + notify.Bytes(p.lay.Notifications())
				each := int64(heapNow()-before)/int64(n) - int64(segment)
				if most := int64(32<<10 + 160*n); each > most {
					t.Errorf("%d ranks: each keeps %d bytes apart from its system segment, more than %d", n, each, most)
				}
				t.Logf("%d ranks: each keeps %d bytes apart from its system segment of %d", n, each, segment)
			}
			return p.Barrier(ctx, p.World()) // the others have still what they keep
		})
		if err != nil {
			t.Error(err)
		}
	}
}
