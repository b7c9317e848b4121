package rdma

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"
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
			tr.polls.Add(1)
			if sparse.Load() {
				time.Sleep(time.Millisecond) // sleep: what is being tested
			}
		}
	})
	defer work.Wait()
	defer stop.Store(true)
	until(t, tr, "who polls should let others run", func() bool {
		tr.poller.Wake() // the thread may have fallen asleep before
		tr.asleep = false
		return tr.hogging.Load()
	})
	sparse.Store(true)
	until(t, tr, "the thread sleeps again", func() bool { return tr.asleep })
	tr.hogging.Store(true)
	tr.Poll()
	if tr.hogging.Load() {
		t.Error("Poll did not let others run")
	}
}
