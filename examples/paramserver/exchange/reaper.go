package exchange

import (
	"context"

	"github.com/gaspi-go/gaspi-go/hoplite"
)

// A reaper deletes objects one after the other while the program goes on: a Delete takes
// some round trips, which nobody need wait for. The list of objects to delete is bounded, so
// that a program that is faster than its reaper waits.
type reaper struct {
	store *hoplite.Store
	ids   chan string
	stop  context.CancelFunc
	done  chan struct{}
}

// reaperBacklog is how many objects may await their end: those of a step or two.
const reaperBacklog = 4

func newReaper(s *hoplite.Store) *reaper {
	ctx, stop := context.WithCancel(context.Background())
	r := &reaper{store: s, ids: make(chan string, reaperBacklog), stop: stop, done: make(chan struct{})}
	go r.loop(ctx)
	return r
}

func (r *reaper) loop(ctx context.Context) {
	defer close(r.done)
	for {
		select {
		case id := <-r.ids:
			// It fails if the store ends, and all its objects with it.
			_ = r.store.Delete(ctx, id)
		case <-ctx.Done():
			return
		}
	}
}

// delete hands over an object that nobody needs any more.
func (r *reaper) delete(id string) {
	select {
	case r.ids <- id:
	case <-r.done:
	}
}

// close ends the reaper; what is left goes with the store.
func (r *reaper) close() {
	r.stop()
	<-r.done
}
