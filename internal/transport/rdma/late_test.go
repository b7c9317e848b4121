package rdma

import (
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/internal/transport/transporttest"
)

// Goal: atomics at a peer that does not answer end, are told apart, and leave nothing
// behind.
func TestUnansweredInMemory(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(n *memoryNet)
	}{
		{"good", nil},
		{"no room now and then", func(n *memoryNet) { n.again = 0.3 }},
		{"hardly any room", func(n *memoryNet) { n.again = 0.9 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			net, all := newMemoryNet(t, c.change), new(crowd)
			transporttest.RunUnanswered(t, func(t *testing.T, n int) []transport.Transport {
				all.ranks = joinOver(t, n, func() fabric { return net.open() })
				return asTransports(all.ranks)
			}, all.memory, func([]transport.Transport) func() {
				all.ranks[1].mu.Lock()
				return all.ranks[1].unlock
			})
			if l := linkTo(t, all.ranks[0], 1); l.requests.Len() != 0 || l.first != nil {
				t.Errorf("%d requests are pending, %v waits for room", l.requests.Len(), l.first)
			}
		})
	}
}
