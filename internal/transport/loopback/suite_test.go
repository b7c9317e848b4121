package loopback

import (
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/internal/transport/transporttest"
	"github.com/gaspi-go/gaspi-go/notify"
	"github.com/gaspi-go/gaspi-go/segment"
)

func TestContract(t *testing.T) {
	transporttest.Run(t, func(t *testing.T, n int) (ranks []transport.Transport) {
		hub := NewHub(n, transporttest.IDs)
		for r := range base.Rank(n) {
			ranks = append(ranks, hub.Join(r))
		}
		t.Cleanup(func() {
			for _, r := range ranks {
				if err := r.Close(); err != nil {
					t.Error(err)
				}
			}
		})
		return ranks
	}, func(size uint64, notifications uint32) (*segment.Segment, error) {
		return segment.New(size, notifications, notify.GoroutineWait(0, 0))
	})
}
