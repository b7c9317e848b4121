package tcp

import (
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
	"github.com/gaspi-go/gaspi-go/internal/transport"
)

// A process that is killed, while much and while nothing is under way to it.
func TestPeerIsKilled(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 4 {
		var lost losses
		pair, _, kill := startPair(t, benchOrder{Size: 8, Count: 1, Rounds: 1}, func(cfg *Config) { cfg.Lost = lost.note })
		put := func(n uint64) error {
			src, err := pair.seg.Span(0, n)
			ok(t, err)
			if err := pair.link.Put(pair.q, transport.Addr{Segment: 1}, src); err != nil {
				return err
			}
			if err := pair.q.Wait(testenv.Context(t), pair.wait, nil); err != nil {
				return err
			}
			return pair.q.Failure()
		}
		ok(t, put(8))
		time.AfterFunc(time.Duration(rng.IntN(20_000))*time.Microsecond, kill)
		var err error
		for err == nil && testenv.Context(t).Err() == nil {
			err = put(1 + rng.Uint64N(8<<20))
		}
		isGone(t, "put", err, 1)
		isGone(t, "ping", pair.link.Ping(testenv.Context(t)), 1)
		if _, err := pair.link.Atomic(testenv.Context(t), transport.Addr{Segment: 1}, transport.FetchAdd, 1, 0); !errors.Is(err, base.ErrRankDead) {
			t.Errorf("atomic: %v", err)
		}
		testenv.Eventually(t, "Lost was told", func() bool { return lost.count() == 1 })
		// An operation that was under way when the process was killed may have failed the queue
		// once more, and then none does. The count of it may be a little late.
		testenv.Eventually(t, "nothing is under way", func() bool {
			_ = pair.q.Failure()
			return pair.q.Idle()
		})
	}
}

func TestPostsDoNotAllocate(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector allocates")
	}
	pair, tell, _ := startPair(t, benchOrder{Size: 8, Count: 1, Rounds: 2000}, nil)
	body, err := pair.seg.Span(0, 8)
	ok(t, err)
	tell("ours")
	round := func() {
		ok(t, pair.link.PutNotify(pair.q, transport.Addr{Segment: 1}, body, transport.Flag{Segment: 1, ID: 0, Value: 1}))
		ok(t, pair.awaitValue(1))
	}
	for range 1000 - 1 {
		round()
	}
	if n := testing.AllocsPerRun(1000, round); n != 0 {
		t.Errorf("%v allocations in a round of write with notification and wait, want none", n)
	}
}
