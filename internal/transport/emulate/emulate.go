package emulate

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/gaspi/emulation"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/notify"
	"github.com/gaspi-go/gaspi-go/segment"
)

// Config says what New needs.
type Config struct {
	Rank base.Rank // Rank is this rank
	Size int       // ranks of the job, all on this host
	// Inner moves the bytes. The emulator owns it from then on.
	Inner transport.Transport
	// Shared reaches memory of all ranks directly, and has segment id 0 for the
	// emulator alone, which owns it from then on.
	Shared transport.Transport
	// Memory makes memory that peers reach through Shared.
	Memory func(size uint64, notifications uint32) (*segment.Segment, error)
	// Network is what is emulated.
	Network emulation.Network
	// WaitPolicy says how calls that must block wait.
	WaitPolicy *notify.WaitPolicy
	// Lost, if not nil, is told of a peer that has fallen silent. It must neither block
	// nor call the transport.
	Lost func(*base.RankError)
}

// clockSegment is where the clocks of a rank are found.
const clockSegment segment.ID = 0

// Transport is one rank's side.
type Transport struct {
	cfg    Config
	rank   base.Rank
	inner  transport.Transport
	shared transport.Transport
	memory *segment.Segment // of own
	own    *clocks
	nic    *nic
	slow   *slow

	mu     sync.Mutex
	links  map[base.Rank]*link           // guarded by mu; of ranks that were used
	gone   map[base.Rank]*base.RankError // guarded by mu; ranks that were lost before that
	closed atomic.Bool
	alarm  *time.Timer // when a silent rank is taken for lost; nil if none falls silent
	work   sync.WaitGroup
}

var _ transport.Transport = (*Transport)(nil)

// New makes the transport of a rank. Links may be used once all ranks have theirs. It
// closes what it was given if it fails.
func New(cfg Config) (*Transport, error) {
	t := &Transport{
		cfg: cfg, rank: cfg.Rank, inner: cfg.Inner, shared: cfg.Shared,
		links: make(map[base.Rank]*link), gone: make(map[base.Rank]*base.RankError),
	}
	if err := t.open(); err != nil {
		return nil, errors.Join(err, t.inner.Close(), t.shared.Close())
	}
	return t, nil
}

func (t *Transport) open() error {
	if loss := t.cfg.Network.Loss; int(loss) >= t.cfg.Size {
		return fmt.Errorf("emulated network: loss-of-rank=%d: there are ranks 0 to %d", loss, t.cfg.Size-1)
	}
	var err error
	if t.nic, err = newNIC(t, t.cfg.Network); err != nil {
		return err
	}
	if t.memory, err = t.cfg.Memory(clockBytes, 1); err != nil {
		t.nic.alarm.Close()
		return fmt.Errorf("emulated network: %w", err)
	}
	if err := t.share(); err != nil {
		t.nic.alarm.Close()
		return errors.Join(err, t.memory.Close())
	}
	t.slow = newSlow(t)
	t.foresee()
	t.work.Go(t.slow.loop)
	go t.nic.loop()
	return nil
}

// share lets all ranks reach the clocks of this one.
func (t *Transport) share() (err error) {
	if t.own, err = clocksOn(t.memory.All()); err != nil {
		return err
	}
	if err := t.shared.Expose(clockSegment, t.memory); err != nil {
		return err
	}
	for r := range base.Rank(t.cfg.Size) {
		if err := t.shared.Grant(clockSegment, r); err != nil {
			return err
		}
	}
	return nil
}

// Name implements transport.Transport.
func (t *Transport) Name() string { return "emulated " + t.inner.Name() }

// Link implements transport.Transport. The own rank is reached without a network.
func (t *Transport) Link(r base.Rank) (transport.Link, error) {
	inner, err := t.inner.Link(r)
	if err != nil || r == t.rank {
		return inner, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if l := t.links[r]; l != nil {
		return l, nil
	}
	peer, err := clocksOf(t.shared, r)
	if err != nil {
		if gone := t.gone[r]; gone != nil {
			err = gone
		}
		return nil, err
	}
	l := &link{
		t: t, rank: r, inner: inner, peer: peer, flows: make(map[uint32]*queueFlow),
		array: notify.NewArray(make([]byte, notify.Bytes(1)), 1, t.cfg.WaitPolicy),
	}
	l.late, _ = inner.(transport.LateLink)
	if mapped, ok := inner.(interface{ Memory() *transport.Direct }); ok {
		l.direct = mapped.Memory()
	}
	if gone := t.gone[r]; gone != nil {
		l.lost.Store(gone)
	}
	if t.closed.Load() {
		l.array.Close()
	}
	t.links[r] = l
	return l, nil
}

// Expose implements transport.Transport.
func (t *Transport) Expose(id segment.ID, s *segment.Segment) error { return t.inner.Expose(id, s) }

// Grant implements transport.Transport.
func (t *Transport) Grant(id segment.ID, r base.Rank) error { return t.inner.Grant(id, r) }

// Withdraw implements transport.Transport.
func (t *Transport) Withdraw(id segment.ID) error { return t.inner.Withdraw(id) }

// Lose implements transport.Transport.
func (t *Transport) Lose(err *base.RankError) {
	t.mu.Lock()
	if t.gone[err.Rank] == nil {
		t.gone[err.Rank] = err
	}
	l := t.links[err.Rank]
	t.mu.Unlock()
	if l != nil {
		l.lose(err)
	}
	t.inner.Lose(err)
}

// Hears reports whether something that rank r has sent may still arrive.
func (t *Transport) Hears(r base.Rank) bool {
	if below, ok := t.inner.(interface{ Hears(base.Rank) bool }); ok && below.Hears(r) {
		return true
	}
	peer, err := clocksOf(t.shared, r)
	return err == nil && r != t.rank && peer.underway.Load() > 0
}

// drainLimit is how long Close waits for what is under way.
const drainLimit = 5 * time.Second

// Close implements transport.Transport. Operations under way still go out, for at most a few
// seconds.
func (t *Transport) Close() error {
	if !t.closed.CompareAndSwap(false, true) {
		return nil
	}
	t.mu.Lock()
	for _, l := range t.links {
		l.array.Close()
	}
	t.mu.Unlock()
	if t.alarm != nil {
		t.alarm.Stop()
	}
	t.nic.closeAndDrain(drainLimit)
	t.slow.close()
	t.work.Wait()
	err := errors.Join(t.inner.Close(), t.shared.Close())
	return errors.Join(err, t.memory.Close())
}

// Punctuality is how well the host has carried the load of this rank since the last
// call with begin.
func (t *Transport) Punctuality(begin bool) emulation.Punctuality { return t.nic.punctuality(begin) }

// Network is what is emulated.
func (t *Transport) Network() emulation.Network { return t.cfg.Network }

// wait waits until what was begun on a queue below has ended.
func (t *Transport) wait(q *transport.Queue) error {
	if err := q.Wait(context.Background(), t.cfg.WaitPolicy, nil); err != nil {
		return err
	}
	return q.Failure()
}
