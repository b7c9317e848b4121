package emulate

import (
	"cmp"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/gaspi/emulation"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/notify"
	"github.com/gaspi-go/gaspi-go/segment"
)

// A cluster is ranks with a segment each, under id 1.
type cluster struct {
	*testing.T
	ranks []*Transport
	segs  []*segment.Segment
	start time.Time
}

// newCluster makes n ranks on a network. Its time begins when it returns.
func newCluster(t *testing.T, n int, network string) *cluster {
	t.Helper()
	net, err := emulation.Parse(network)
	if err != nil {
		t.Fatal(err)
	}
	c := &cluster{T: t, ranks: job(t, n, net)}
	for _, r := range c.ranks {
		s, err := memory(1<<20, 16)
		if err != nil {
			t.Fatal(err)
		}
		c.ok(r.Expose(1, s))
		for peer := range c.ranks {
			c.ok(r.Grant(1, base.Rank(peer)))
		}
		c.segs = append(c.segs, s)
	}
	c.start = time.Now()
	return c
}

func (c *cluster) ok(err error) {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
}

func (c *cluster) link(from, to int) transport.Link {
	c.Helper()
	l, err := c.ranks[from].Link(base.Rank(to))
	c.ok(err)
	return l
}

// put sends bytes and notification id.
func (c *cluster) put(from, to int, q *transport.Queue, bytes uint64, id notify.ID) {
	c.Helper()
	c.ok(c.tryPut(from, to, q, bytes, id))
}

// tryPut is put to a rank that may be gone.
func (c *cluster) tryPut(from, to int, q *transport.Queue, bytes uint64, id notify.ID) error {
	c.Helper()
	src, err := c.segs[from].Span(0, bytes)
	c.ok(err)
	return c.link(from, to).PutNotify(q, transport.Addr{Segment: 1}, src, transport.Flag{Segment: 1, ID: id, Value: 1})
}

// isGone reports whether an error says that a rank is gone.
func isGone(err error, rank int) bool {
	gone := new(base.RankError)
	return errors.As(err, &gone) && gone.Rank == base.Rank(rank)
}

// await waits for notification id of a rank.
func (c *cluster) await(rank int, id notify.ID) {
	c.Helper()
	_, err := c.segs[rank].Notifications().Wait(c.Context(), notify.Some(id, 1), nil, nil)
	c.ok(err)
}

// wait waits for the operations of a queue.
func (c *cluster) wait(q *transport.Queue) {
	c.Helper()
	c.ok(q.Wait(c.Context(), notify.GoroutineWait(0, 0), nil))
	c.ok(q.Failure())
}

// early is by how much something may happen before its time, because a thread takes a
// while to get up and a source counts as free a little sooner.
const early = mostLead + soon

// took fails the test if less time has passed than the network takes. A host can be too
// slow, but never too fast.
func (c *cluster) took(what string, least time.Duration) {
	c.Helper()
	if d := time.Since(c.start); d < least-early {
		c.Errorf("%s after %v; the network takes %v", what, d, least)
	}
}

func newQueue() *transport.Queue { return transport.NewQueue(1<<20, 0) }

func TestTimes(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name, network string
		ranks         int
		run           func(c *cluster)
	}{
		{"a message", "latency=3ms,bandwidth=10MB/s", 2, func(c *cluster) {
			q := newQueue()
			c.put(0, 1, q, 50_000, 1)
			c.wait(q)
			c.took("the source is free", 5*ms)
			c.await(1, 1)
			c.took("the message is there", 8*ms)
		}},
		{"messages of a rank share its card", "latency=1ms,bandwidth=10MB/s", 4, func(c *cluster) {
			q := newQueue()
			for to := 1; to < 4; to++ {
				c.put(0, to, q, 50_000, 1)
			}
			c.await(3, 1)
			c.took("the last message is there", 16*ms)
		}},
		{"messages to a rank share its card", "latency=1ms,bandwidth=10MB/s", 4, func(c *cluster) {
			for from := 1; from < 4; from++ {
				c.put(from, 0, newQueue(), 50_000, notify.ID(from))
			}
			for from := 1; from < 4; from++ {
				c.await(0, notify.ID(from))
			}
			c.took("the last message is there", 16*ms)
		}},
		{"a notification comes after the puts before it", "latency=1ms,bandwidth=10MB/s", 2, func(c *cluster) {
			q := newQueue()
			src, err := c.segs[0].Span(0, 50_000)
			c.ok(err)
			c.ok(c.link(0, 1).Put(q, transport.Addr{Segment: 1}, src))
			c.ok(c.link(0, 1).Notify(q, transport.Flag{Segment: 1, ID: 2, Value: 1}))
			c.await(1, 2)
			c.took("the notification is there", 6*ms)
		}},
		{"overhead", "latency=1ms,overhead=2ms", 2, func(c *cluster) {
			q := newQueue()
			for id := range notify.ID(4) {
				c.ok(c.link(0, 1).Notify(q, transport.Flag{Segment: 1, ID: id, Value: 1}))
			}
			c.await(1, 3)
			c.took("the last of four notifications", 9*ms)
		}},
		{"round trips", "latency=2ms,bandwidth=10MB/s", 2, func(c *cluster) {
			l, q := c.link(0, 1), newQueue()
			_, err := l.Atomic(c.Context(), transport.Addr{Segment: 1}, transport.FetchAdd, 1, 0)
			c.ok(err)
			c.took("an atomic", 4*ms)
			c.ok(l.Flush(c.Context(), q))
			c.took("and a flush", 8*ms)
			c.ok(l.Ping(c.Context()))
			c.took("and a ping", 12*ms)
			dst, err := c.segs[0].Span(0, 50_000)
			c.ok(err)
			c.ok(l.Get(q, dst, transport.Addr{Segment: 1}))
			c.wait(q)
			c.took("and a get", 21*ms)
		}},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(newCluster(t, c.ranks, c.network)) })
	}
}

// TestOrderWhateverTheReaction lets a rank seem to take longer and longer to notice what
// comes: what is sent to it later must not be told of before what was sent first.
func TestOrderWhateverTheReaction(t *testing.T) {
	for _, bytes := range []uint64{0, 100} {
		c := newCluster(t, 2, "latency=2ms,bandwidth=1GB/s")
		q := transport.NewQueue(16, 0)
		src, err := c.segs[0].Span(0, bytes)
		c.ok(err)
		const last = 5
		for v := notify.Value(1); v <= last; v++ {
			c.ranks[1].own.reaction.Store(uint64(v) * 400_000)
			c.ok(c.link(0, 1).PutNotify(q, transport.Addr{Segment: 1}, src, transport.Flag{Segment: 1, ID: 3, Value: v}))
		}
		c.ranks[1].own.reaction.Store(0)
		c.put(0, 1, q, 0, 4) // behind all of them
		c.await(1, 4)
		v, err := c.segs[1].Notifications().Reset(3)
		if c.ok(err); v != last {
			t.Errorf("%d bytes: %d was told last, want %d", bytes, v, last)
		}
		c.wait(q)
	}
}

// Posted operations still arrive when the transport is closed.
func TestCloseDrains(t *testing.T) {
	c := newCluster(t, 2, "latency=20ms")
	c.ok(c.link(0, 1).Notify(newQueue(), transport.Flag{Segment: 1, ID: 1, Value: 7}))
	if !c.ranks[1].Hears(0) {
		t.Error("rank 1 does not expect what is under way")
	}
	c.ok(c.ranks[0].Close())
	if v := c.segs[1].Notifications().Load(1); v != 7 {
		t.Errorf("after Close notification 1 is %d, want 7", v)
	}
	if c.ranks[1].Hears(0) {
		t.Error("rank 1 still expects something")
	}
	c.took("it was closed", 20*time.Millisecond)
}

// Operations under way to a lost rank end with the reason, and nothing of them arrives.
func TestLoseUnderWay(t *testing.T) {
	c := newCluster(t, 2, "latency=10m,bandwidth=1MB/s")
	l, why := c.link(0, 1), &base.RankError{Rank: 1, Reason: "killed by signal 9"}
	put, get, ended := newQueue(), newQueue(), make(chan error, 2)
	c.put(0, 1, put, 1<<20, 1)
	dst, err := c.segs[0].Span(0, 8)
	c.ok(err)
	c.ok(l.GetNotify(get, dst, transport.Addr{Segment: 1}, c.segs[0].Notifications(), transport.Flag{ID: 3, Value: 1}))
	go func() { ended <- l.Flush(context.Background(), put) }()
	go func() {
		_, err := l.Atomic(context.Background(), transport.Addr{Segment: 1}, transport.FetchAdd, 1, 0)
		ended <- err
	}()
	c.ranks[0].Lose(why)
	for range 2 {
		if err := <-ended; !errors.Is(err, why) {
			t.Errorf("a call under way: %v, want %v", err, why)
		}
	}
	for name, q := range map[string]*transport.Queue{"put": put, "get": get} {
		c.ok(q.Wait(t.Context(), notify.GoroutineWait(0, 0), nil))
		if err := q.Failure(); !errors.Is(err, why) {
			t.Errorf("%s: %v, want %v", name, err, why)
		}
	}
	c.ok(c.ranks[0].Close()) // at once: nothing is under way
	if c.segs[1].Notifications().Load(1) != 0 || c.segs[0].Notifications().Load(3) != 0 {
		t.Error("a notification came all the same")
	}
}

// A meanwhileLink does something when the link above has looked what it may do.
type meanwhileLink struct {
	transport.Link
	do func()
}

func (l *meanwhileLink) Size(id segment.ID) (uint64, uint32, error) {
	defer l.do()
	return l.Link.Size(id)
}

// Goal: an operation with a silent rank that begins while the rank is taken for lost ends with that, as those before it do.
// Method: the rank is lost while the operation looks up the segment; gets of 8 bytes, with and without a notification.
func TestGetWhileASilentRankIsLost(t *testing.T) {
	for _, array := range []bool{false, true} {
		c := newCluster(t, 2, "latency=1us,loss-of-rank=1@0s,detect=1h")
		l, q, why := c.link(0, 1).(*link), newQueue(), &base.RankError{Rank: 1, Reason: "its host has fallen silent"}
		l.inner = &meanwhileLink{l.inner, func() { c.ranks[0].Lose(why) }}
		dst, err := c.segs[0].Span(0, 8)
		c.ok(err)
		if array {
			err = l.GetNotify(q, dst, transport.Addr{Segment: 1}, c.segs[0].Notifications(), transport.Flag{ID: 3, Value: 1})
		} else {
			err = l.Get(q, dst, transport.Addr{Segment: 1})
		}
		c.ok(q.Wait(testenv.Context(t), notify.GoroutineWait(0, 0), nil))
		if err = cmp.Or(err, q.Failure()); !errors.Is(err, why) {
			t.Errorf("%v, want %v", err, why)
		}
		if v := c.segs[0].Notifications().Load(3); v != 0 {
			t.Errorf("a notification came all the same: %d", v)
		}
	}
}

// Nothing comes from a rank that has fallen silent, or reaches it, and then it is lost.
func TestSilence(t *testing.T) {
	net, err := emulation.Parse("latency=1ms,loss-of-rank=1@0s,detect=20ms")
	if err != nil {
		t.Fatal(err)
	}
	c := &cluster{T: t}
	c.ranks = job(t, 3, net)
	for _, r := range c.ranks {
		s, err := memory(64, 16)
		c.ok(err)
		c.ok(r.Expose(1, s))
		for peer := range base.Rank(3) {
			c.ok(r.Grant(1, peer))
		}
		c.segs = append(c.segs, s)
	}
	for _, pair := range [][2]int{{0, 1}, {1, 0}, {1, 2}} {
		// On a slow host the limit of silence is over already.
		if err := c.tryPut(pair[0], pair[1], newQueue(), 8, 1); err != nil && !isGone(err, pair[1]) {
			t.Errorf("put from %d to %d: %v, want that it is gone, or no error", pair[0], pair[1], err)
		}
	}
	c.put(0, 2, newQueue(), 8, 2)
	for _, pair := range [][2]int{{0, 1}, {1, 0}, {2, 1}, {1, 2}} {
		if err := c.link(pair[0], pair[1]).Ping(t.Context()); !isGone(err, pair[1]) {
			t.Errorf("ping from %d to %d: %v, want that it is gone", pair[0], pair[1], err)
		}
	}
	c.ok(c.link(0, 2).Ping(t.Context()))
	c.await(2, 2)
	for r, s := range c.segs {
		if s.Notifications().Load(1) != 0 {
			t.Errorf("a message that silence should have swallowed reached rank %d", r)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	net, err := emulation.Parse("latency=1us,loss-of-rank=2@1s")
	if err != nil {
		t.Fatal(err)
	}
	net.Loss = 2
	hubs := newHubs(2)
	_, err = New(hubs.config(0, net))
	if want := "emulated network: loss-of-rank=2: there are ranks 0 to 1"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
