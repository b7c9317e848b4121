package tcp

import (
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/sys/socket"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/segment"
)

// Connections are measured from the first to their end, by both ranks.
func TestMeasure(t *testing.T) {
	ranks := join(t, 2, nil)
	seen := func(of int) map[int]socket.Metrics {
		found := map[int]socket.Metrics{}
		ranks[of].Measure(func(r base.Rank, connection int, m socket.Metrics) {
			if int(r) != 1-of {
				t.Errorf("rank %d has a connection with %d", of, r)
			}
			found[connection] = m
		})
		return found
	}
	if all := seen(0); len(all) != 0 {
		t.Fatalf("%v before the first", all)
	}
	exposed(t, ranks[1], 1, 4096)
	source, err := segment.New(4096, 1, ranks[0].cfg.WaitPolicy)
	ok(t, err)
	q := queueOn(1)
	ok(t, linkTo(t, ranks[0], 1).Put(q, transport.Addr{Segment: 1}, source.All()))
	ok(t, settle(t, q))
	testenv.Eventually(t, "both have seen 4096 bytes", func() bool {
		return sum(seen(0)).Acked >= 4096 && sum(seen(1)).Received >= 4096
	})
	ok(t, ranks[1].Close())
	testenv.Eventually(t, "a connection that has ended is not measured", func() bool { return len(seen(0)) == 0 })
}

// sum adds up what connections carried.
func sum(all map[int]socket.Metrics) (total socket.Metrics) {
	for _, m := range all {
		total.Acked += m.Acked
		total.Received += m.Received
	}
	return total
}
