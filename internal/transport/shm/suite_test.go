//go:build !race

package shm

import (
	"context"
	"os"
	"sync"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/base"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/internal/transport/transporttest"
	"github.com/gaspi-go/gaspi-go/notify"
	"github.com/gaspi-go/gaspi-go/segment"
)

// The race detector knows nothing of orders in mapped memory, so this suite runs
// without it; loopback runs the same one with it.
func TestContract(t *testing.T) {
	transporttest.Run(t, ranksOfOneProcess, func(size uint64, notifications uint32) (*segment.Segment, error) {
		return segment.Create(size, notifications, notify.AmongProcesses(0, 0))
	})
}

// Whole jobs, with segments, links and peers' segments open, leave no descriptor.
func TestCloseLeavesNoDescriptor(t *testing.T) {
	before := descriptors(t)
	for range 3 {
		t.Run("job", TestContract)
	}
	if after := descriptors(t); after != before {
		t.Errorf("%d descriptors, %d before", after, before)
	}
}

func descriptors(t *testing.T) int {
	t.Helper()
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(files)
}

// ranksOfOneProcess makes n ranks that meet in this process; they open each
// other's memory files as processes would.
func ranksOfOneProcess(t *testing.T, n int) []transport.Transport {
	var mu sync.Mutex
	given, all := make([][]byte, n), make(chan struct{})
	missing := n
	meet := func(r base.Rank) Exchange {
		return func(_ context.Context, _ string, value []byte) ([][]byte, error) {
			mu.Lock()
			given[r] = value
			if missing--; missing == 0 {
				close(all)
			}
			mu.Unlock()
			<-all
			return given, nil
		}
	}
	ranks := make([]transport.Transport, n)
	var wg sync.WaitGroup
	for r := range base.Rank(n) {
		wg.Go(func() {
			joined, err := Join(t.Context(), r, n, transporttest.IDs, meet(r))
			if err != nil {
				t.Error(err)
				return
			}
			ranks[r] = joined
		})
	}
	wg.Wait()
	t.Cleanup(func() {
		for _, r := range ranks {
			if r == nil {
				continue
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	if t.Failed() {
		t.FailNow()
	}
	return ranks
}
