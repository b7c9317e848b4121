package faulty

import (
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/internal/transport/loopback"
	"github.com/gaspi-go/gaspi-go/internal/transport/transporttest"
	"github.com/gaspi-go/gaspi-go/notify"
	"github.com/gaspi-go/gaspi-go/segment"
)

// TestContract runs the suite of all transports on hosts of one rank and of two, without
// a fault.
func TestContract(t *testing.T) {
	for _, c := range []struct {
		name string
		on   func(r int) int
	}{{"each its own host", func(r int) int { return r }}, {"two of a host", func(r int) int { return r / 2 }}} {
		t.Run(c.name, func(t *testing.T) {
			transporttest.Run(t, func(t *testing.T, n int) (ranks []transport.Transport) {
				cfg := Config{Latency: time.Microsecond, Silence: time.Minute, Seed: 1}
				for r := range n {
					cfg.Hosts = append(cfg.Hosts, c.on(r))
				}
				net, hub := New(cfg), loopback.NewHub(n, transporttest.IDs)
				for r := range base.Rank(n) {
					rank, err := net.Join(r, hub.Join(r), nil)
					if err != nil {
						t.Fatal(err)
					}
					ranks = append(ranks, rank)
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
		})
	}
}
