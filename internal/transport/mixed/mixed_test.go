package mixed_test

import (
	"context"
	"errors"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/internal/transport/loopback"
	"github.com/gaspi-go/gaspi-go/internal/transport/mixed"
	"github.com/gaspi-go/gaspi-go/internal/transport/transporttest"
	"github.com/gaspi-go/gaspi-go/notify"
	"github.com/gaspi-go/gaspi-go/segment"
)

// Two hubs stand for the two transports: ranks 0 and 1 are on one host, 2 and 3 on
// another, and so on.
func TestContract(t *testing.T) {
	transporttest.Run(t, func(t *testing.T, n int) []transport.Transport {
		near, far := loopback.NewHub(n, transporttest.IDs), loopback.NewHub(n, transporttest.IDs)
		ranks := make([]transport.Transport, n)
		for r := range base.Rank(n) {
			isNear := func(_ context.Context, other base.Rank) (bool, error) { return other/2 == r/2, nil }
			ranks[r] = mixed.New(near.Join(r), far.Join(r), isNear)
		}
		return ranks
	}, func(size uint64, notifications uint32) (*segment.Segment, error) {
		return segment.New(size, notifications, notify.GoroutineWait(0, 0))
	})
}

func TestViaIsAskedOnce(t *testing.T) {
	near, far := loopback.NewHub(3, 1).Join(0), loopback.NewHub(3, 1).Join(0)
	asked := 0
	gone := &base.RankError{Rank: 2, Reason: "gone"}
	m := mixed.New(near, far, func(_ context.Context, r base.Rank) (bool, error) {
		asked++
		if r == 2 {
			return false, gone
		}
		return r == 0, nil
	})
	for range 2 {
		for r, want := range []transport.Transport{near, far} {
			if got, err := m.Via(base.Rank(r)); err != nil || got != want {
				t.Errorf("rank %d: %v, %v", r, got, err)
			}
		}
	}
	if asked != 2 {
		t.Errorf("asked %d times where 2 ranks are", asked)
	}
	if _, err := m.Link(2); !errors.Is(err, base.ErrRankDead) {
		t.Errorf("link to a rank that nobody knew: %v", err)
	}
}
