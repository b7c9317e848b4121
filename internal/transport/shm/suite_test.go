//go:build !race

package shm

import (
	"os"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/internal/transport/transporttest"
	"github.com/gaspi-go/gaspi-go/notify"
	"github.com/gaspi-go/gaspi-go/segment"
)

// The race detector knows nothing of orders in mapped memory, so this suite runs
// without it; loopback runs the same one with it.
func TestContract(t *testing.T) {
	transporttest.Run(t, ranksOfOneProcess, func(size uint64, notifications uint32) (*segment.Segment, error) {
		return segment.Create(size, notifications, notify.ProcessWait(0, 0))
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
	ranks, all := make([]transport.Transport, n), make([]string, n)
	for r := range ranks {
		joined, err := Join(base.Rank(r), n, transporttest.IDs, among(all))
		if err != nil {
			t.Fatal(err)
		}
		ranks[r], all[r] = joined, joined.Address()
	}
	t.Cleanup(func() {
		for _, r := range ranks {
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	return ranks
}
