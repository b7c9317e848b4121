package exchange

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/hoplite"
)

// Members knows which workers live, and ends what waits in vain for one that died.
type members struct {
	p       *gaspi.Proc
	seg     *gaspi.Segment // any segment that the watched ranks are registered with
	mortal  bool           // whether workers may die
	watched []gaspi.Rank   // whose end changes something for this rank; not changed

	mu      sync.Mutex
	live    []gaspi.Rank       // of watched; guarded by mu
	changed context.Context    // ends at the next change; guarded by mu
	change  context.CancelFunc // guarded by mu
	stop    context.CancelFunc // ends loop
	done    chan struct{}      // closed by loop
}

// watch begins to look after the ranks whose end matters to this one: that of a worker to
// rank 0, and that of rank 0 to all. So rank 0 is the first to end because of a worker, and
// can say whose death it was.
func watch(p *gaspi.Proc, seg *gaspi.Segment, keepGoing bool) *members {
	m := &members{p: p, seg: seg, mortal: keepGoing, done: make(chan struct{})}
	for r := range gaspi.Rank(p.Size()) {
		if r != p.Rank() && (r == server || p.Rank() == server) {
			m.watched = append(m.watched, r)
		}
	}
	m.live = slices.Clone(m.watched)
	m.changed, m.change = context.WithCancel(context.Background())
	ctx, stop := context.WithCancel(context.Background())
	m.stop = stop
	go m.loop(ctx)
	return m
}

// loop takes those off the list that have ended.
func (m *members) loop(ctx context.Context) {
	defer close(m.done)
	for m.seg.WaitFunc(ctx, m.anyEnded, gaspi.ThroughLosses) == nil {
		m.mu.Lock()
		m.live = slices.DeleteFunc(m.live, m.ended)
		m.change()
		m.changed, m.change = context.WithCancel(context.Background())
		m.mu.Unlock()
	}
}

func (m *members) ended(r gaspi.Rank) bool { return m.p.Failure(r) != nil }

func (m *members) anyEnded() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.ContainsFunc(m.live, m.ended)
}

// alive are the watched ranks that live. The caller owns the slice.
func (m *members) alive() []gaspi.Rank {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.live)
}

// with calls do with a context that ends with ctx, or when one of the watched ranks dies,
// and with those that live. If one died, and that is no reason to give up, it calls do
// again unless do has succeeded.
func (m *members) with(ctx context.Context, do func(ctx context.Context, live []gaspi.Rank) error) error {
	for {
		m.mu.Lock()
		live, changed := slices.Clone(m.live), m.changed
		m.mu.Unlock()
		if err := m.enough(live); err != nil {
			return err
		}
		inner, cancel := context.WithCancel(ctx)
		release := context.AfterFunc(changed, cancel)
		err := do(inner, live)
		release()
		cancel()
		switch {
		case err == nil || ctx.Err() != nil:
			return err
		case changed.Err() == nil:
			if err := m.blame(ctx, err, changed); err != nil {
				return err
			}
		}
	}
}

// enough says why this rank cannot go on with those that live, or nil.
func (m *members) enough(live []gaspi.Rank) error {
	if m.mortal && len(live) > 0 {
		return nil
	}
	for _, r := range m.watched {
		if !slices.Contains(live, r) {
			return m.p.Failure(r)
		}
	}
	return nil
}

// blame returns err, or if it is because of a death that this rank has still to hear of,
// what is to be said about that.
func (m *members) blame(ctx context.Context, err error, changed context.Context) error {
	if !errors.Is(err, gaspi.ErrRankDead) && !errors.Is(err, gaspi.ErrNoSegment) && !errors.Is(err, hoplite.ErrLost) {
		return err
	}
	select {
	case <-changed.Done():
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(newsPatience):
		return err
	}
	return nil
}

// newsPatience is how long the word of a death may take from the rank that noticed it, by
// the launcher, to this one: far longer than any heartbeat.
const newsPatience = 20 * time.Second

// close ends the watching.
func (m *members) close() {
	m.stop()
	<-m.done
}

// each calls do once for each watched rank that lives, in their order; for one that dies
// meanwhile do may fail.
func (m *members) each(ctx context.Context, do func(ctx context.Context, r gaspi.Rank) error) error {
	done := map[gaspi.Rank]bool{}
	return m.with(ctx, func(ctx context.Context, live []gaspi.Rank) error {
		for _, r := range live {
			if done[r] {
				continue
			}
			if err := do(ctx, r); err != nil {
				return err
			}
			done[r] = true
		}
		return nil
	})
}
