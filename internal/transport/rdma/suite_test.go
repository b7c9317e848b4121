package rdma

import (
	"context"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/internal/transport/transporttest"
	"github.com/gaspi-go/gaspi-go/notify"
	"github.com/gaspi-go/gaspi-go/segment"
)

// polling yields for a while and then sleeps. It says that it spins, so that the
// thread naps as shortly as it does where each rank has a core.
func polling() *notify.WaitPolicy { return notify.ProcessWait(time.Nanosecond, 50*time.Microsecond) }

// joinOver makes n ranks of this process, each on what open returns for it. change may
// change what they are configured with.
func joinOver(t testing.TB, n int, open func() fabric, change ...func(cfg *Config)) []*Transport {
	t.Helper()
	ranks := make([]*Transport, n)
	for r := range ranks {
		cfg := Config{
			Rank: base.Rank(r), Size: n, IDs: transporttest.IDs, WaitPolicy: polling(),
			Lookup: func(_ context.Context, r base.Rank) (string, error) { return ranks[r].Address(), nil },
			Begin:  func(t *Transport) { t.PolledBy(t.cfg.WaitPolicy) },
		}
		for _, do := range change {
			do(&cfg)
		}
		var err error
		if ranks[r], err = newOn(open(), cfg); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := ranks[r].Close(); err != nil {
				t.Error(err)
			}
		})
	}
	return ranks
}

// A crowd is ranks that waiters for anybody's memory poll, so that nothing waits for
// a thread to end its nap.
type crowd struct{ ranks []*Transport }

func (c *crowd) poll() (moved bool) {
	for _, r := range c.ranks {
		moved = r.Poll() || moved
	}
	return moved
}

func (c *crowd) memory(size uint64, notifications uint32) (*segment.Segment, error) {
	w := polling()
	w.Poll = c.poll
	return segment.New(size, notifications, w)
}

func asTransports(ranks []*Transport) (all []transport.Transport) {
	for _, r := range ranks {
		all = append(all, r)
	}
	return all
}

// The contract holds over everything that a provider may promise or not.
func TestContractInMemory(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(n *memoryNet)
	}{
		{"good", nil},
		{"no room now and then", func(n *memoryNet) { n.again = 0.3 }},
		{"as verbs", func(n *memoryNet) {
			n.promises.dataBits, n.promises.localKeys, n.based = 32, true, true
			n.promises.orderedWrites, n.promises.inFlight = 8<<20, 3
		}},
		{"no data with writes", func(n *memoryNet) { n.promises.dataBits = 0 }},
		{"small transfers", func(n *memoryNet) { n.promises.transfer, n.promises.inject = 1000, 0 }},
		{"writes without order", func(n *memoryNet) { n.promises.orderedWrites = 0 }},
		{"messages overtake writes", func(n *memoryNet) { n.promises.sendAfterWrite = false }},
		{"no order, no data, small", func(n *memoryNet) {
			n.promises.orderedWrites, n.promises.sendAfterWrite, n.promises.dataBits, n.promises.transfer = 0, false, 0, 100
			n.promises.localKeys, n.based, n.again, n.promises.inFlight = true, true, 0.2, 2
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			all := new(crowd)
			transporttest.Run(t, func(t *testing.T, n int) []transport.Transport {
				net := newMemoryNet(t, c.change)
				all.ranks = joinOver(t, n, func() fabric { return net.open() })
				return asTransports(all.ranks)
			}, all.memory)
		})
	}
}
