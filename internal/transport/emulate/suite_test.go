package emulate

import (
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/gaspi/emulation"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/internal/transport/loopback"
	"github.com/gaspi-go/gaspi-go/internal/transport/transporttest"
	"github.com/gaspi-go/gaspi-go/notify"
	"github.com/gaspi-go/gaspi-go/segment"
)

// memory makes segments for ranks of this process.
func memory(size uint64, notifications uint32) (*segment.Segment, error) {
	return segment.New(size, notifications, notify.GoroutineWait(0, 0))
}

// hubs are what ranks of this process meet in.
type hubs struct {
	size          int
	inner, shared *loopback.Hub
}

func newHubs(n int) hubs {
	return hubs{n, loopback.NewHub(n, transporttest.IDs), loopback.NewHub(n, 1)}
}

// config returns the configuration of rank r.
func (h hubs) config(r base.Rank, net emulation.Network) Config {
	return Config{
		Rank: r, Size: h.size, Inner: h.inner.Join(r), Shared: h.shared.Join(r),
		Memory: memory, Network: net, WaitPolicy: notify.GoroutineWait(0, 100*time.Microsecond),
	}
}

// job makes n ranks that reach each other through an emulated network.
func job(t *testing.T, n int, net emulation.Network) (ranks []*Transport) {
	t.Helper()
	meet := newHubs(n)
	for r := range base.Rank(n) {
		x, err := New(meet.config(r, net))
		if err != nil {
			t.Fatal(err)
		}
		ranks = append(ranks, x)
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

func TestContract(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, network string }{
		{"quick", "latency=1us"},
		{"rough", "latency=10us,bandwidth=1GB/s,jitter=40us,overhead=1us,seed=3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			net, err := emulation.Parse(c.network)
			if err != nil {
				t.Fatal(err)
			}
			transporttest.Run(t, func(t *testing.T, n int) (ranks []transport.Transport) {
				for _, r := range job(t, n, net) {
					ranks = append(ranks, r)
				}
				return ranks
			}, memory)
		})
	}
}
