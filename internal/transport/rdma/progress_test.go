package rdma

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

// One who polls all the time lets other goroutines run now and then; one who then polls
// only now and then leaves the work to the thread again.
func TestThreadAndThoseWhoPoll(t *testing.T) {
	ranks, _, _ := lifeNet(t)
	tr := ranks[0]
	var sparse, stop atomic.Bool
	var work sync.WaitGroup
	work.Go(func() {
		for !stop.Load() {
			tr.progress.Polled()
			if sparse.Load() {
				time.Sleep(time.Millisecond) // sleep: what is being tested
			}
		}
	})
	defer work.Wait()
	defer stop.Store(true)
	until(t, tr, "who polls should let others run", func() bool {
		tr.progress.poller.Wake() // the thread may have fallen asleep before
		tr.progress.asleep = false
		return tr.progress.hogging.Load()
	})
	sparse.Store(true)
	until(t, tr, "the thread sleeps again", func() bool { return tr.progress.asleep })
	tr.progress.hogging.Store(true)
	tr.Poll()
	if tr.progress.hogging.Load() {
		t.Error("Poll did not let others run")
	}
}

// A descriptor that can be read all the time, as that of a provider is: the thread gives
// it up, and naps.
func TestDescriptorThatNeverStopsTelling(t *testing.T) {
	net := newMemoryNet(t, func(n *memoryNet) { n.deaf = true })
	ranks := joinOver(t, 2, func() fabric { return net.open() })
	ok(t, linkTo(t, ranks[1], 0).Ping(testenv.Context(t)))
	polls := func() int {
		net.mu.Lock()
		defer net.mu.Unlock()
		return net.nodes[0].polls
	}
	const least, most = 5, 500 // in so long: a thread that does not nap polls 50,000 times
	for ctx := testenv.Context(t); ; {
		before := polls()
		time.Sleep(100 * time.Millisecond) // sleep: what is being tested
		if n := polls() - before; n >= least && n <= most {
			return
		} else if ctx.Err() != nil {
			t.Fatalf("the thread polls %d times in 100 ms", n)
		}
	}
}
