package faults

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/internal/transport/faulty"
)

// Times of a bubble, which cost nothing.
const (
	latency   = 200 * time.Microsecond // of a message between hosts, at most
	silence   = 500 * time.Millisecond // of a host, until it counts as lost
	noticed   = silence + silence/4    // when that has been noticed by all
	verdictOf = 5 * time.Millisecond   // a death is announced within
	look      = 10 * time.Millisecond  // how often it looks meanwhile
	moment    = 5 * time.Millisecond   // the fault comes within, after all are prepared
	lateness  = 4 * time.Second        // how late is late

	// slowly is how long errors take at most, but those of rows that take longer.
	slowly = noticed + patience + time.Second
)

// known is when all know of the fault that had a connection with who is lost.
func (c *cell) known() time.Duration { return moment + slowly + c.row.later(silence) }

// leave is when ranks leave whose calls have failed: those that had none have tried.
func (c *cell) leave() time.Duration { return c.known() + slowly + c.row.later(silence) }

// limit is when what has not ended hangs.
func (c *cell) limit() time.Duration { return c.leave() + slowly + c.row.later(silence) + lateness }

// A trial is a cell under way. Its times are those of the bubble.
type trial struct {
	*cell
	net      *faulty.Network
	prepared sync.WaitGroup
	begun    chan struct{} // closed when the calls may begin
	zero     time.Time     // when that was

	mu    sync.Mutex
	wrong []string
	left  []time.Time // index is the rank: when it left with an error
	ended int         // calls that ended
}

// run runs a cell in a bubble and returns what was wrong.
func (c *cell) run(t *testing.T) *trial {
	x := &trial{cell: c, begun: make(chan struct{}), left: make([]time.Time, len(c.hosts))}
	synctest.Test(t, func(t *testing.T) {
		x.begun = make(chan struct{}) // of the bubble
		x.net = faulty.New(faulty.Config{Hosts: c.hosts, Latency: latency, Silence: silence, Verdict: verdictOf, Seed: c.seed})
		x.prepared.Add(len(c.hosts))
		cfg := gaspi.Config{
			Segments: 32, Groups: 16, AllReduceElements: shortVector, Notifications: 64, PassiveMax: 64, Queues: 2, QueuesMax: 32,
			Spin: -1, Yield: -1, KeepGoing: true,
		}
		ctx := transport.WithNetwork(t.Context(), x.net)
		var fault sync.WaitGroup
		fault.Go(x.breakIt)
		_ = gaspi.Local(ctx, len(c.hosts), cfg, x.rank) // errors are judged where they come up
		fault.Wait()
		if err := x.net.Changed(); err != nil {
			x.wrong = append(x.wrong, err.Error())
		}
	})
	return x
}

// breakIt brings the fault about.
func (x *trial) breakIt() {
	draw := rand.New(rand.NewPCG(x.seed, 3))
	x.prepared.Wait()
	x.zero = time.Now()
	close(x.begun)
	time.Sleep(time.Duration(draw.Int64N(int64(moment)))) // sleep: the moment of the fault
	switch v := x.hosts[x.victim]; x.fault {
	case killed:
		x.net.Kill(x.victim)
	case stopped:
		x.net.Stop(x.victim)
	case host:
		x.net.CutHost(v)
	case link:
		x.net.Cut(v, x.hosts[x.other])
		x.net.Cut(x.hosts[x.other], v)
	case oneWay:
		x.net.Cut(v, x.hosts[x.other])
	case launcher:
		x.net.CutLauncher(v)
	}
}

// fault notes that something was wrong.
func (x *trial) fails(r gaspi.Rank, format string, args ...any) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.wrong = append(x.wrong, fmt.Sprintf("rank %d, at %v: %s", r, time.Since(x.zero), fmt.Sprintf(format, args...)))
}

// at waits until a time after zero.
func (x *trial) at(ctx context.Context, d time.Duration) { pause(ctx, time.Until(x.zero.Add(d))) }

// rank is the life of a rank.
func (x *trial) rank(ctx context.Context, p *gaspi.Proc) error {
	r := p.Rank()
	m, do, err := x.prepare(ctx, p)
	x.prepared.Done()
	<-x.begun
	if err != nil {
		x.fails(r, "preparation: %v", err)
		return err
	}
	ctx, cancel := context.WithDeadline(ctx, x.zero.Add(x.limit()))
	defer cancel()
	err = x.calls(ctx, m, do)
	if err == nil && m.end != nil && x.verdict(r, x.needs) == goesOn {
		if err = m.end(ctx, 0); err != nil && !x.net.Killed(r) && !x.inTheDark(m) {
			x.fails(r, "the end: %v", err)
		}
	}
	if x.net.Killed(r) {
		<-ctx.Done() // its end is announced
		return err
	}
	if err != nil && ctx.Err() == nil {
		x.at(ctx, x.leave())
		x.mu.Lock()
		x.left[r] = time.Now()
		x.mu.Unlock()
		return err
	}
	x.at(ctx, x.limit()-time.Second) // others may need it
	return nil
}

// prepare makes the group of a rank and opens the row.
func (x *trial) prepare(ctx context.Context, p *gaspi.Proc) (*member, step, error) {
	var ranks []gaspi.Rank
	for r, group := range x.members {
		if group == x.members[p.Rank()] {
			ranks = append(ranks, gaspi.Rank(r))
		}
	}
	g, err := p.NewGroup(ranks...)
	if err == nil {
		err = g.Commit(ctx)
	}
	if err != nil {
		return nil, nil, err
	}
	me, _ := g.Rank()
	m := &member{
		p: p, group: g, id: 1, me: me, shift: x.shift, count: x.count, forced: x.forced, victim: x.victim,
		draw: rand.New(rand.NewPCG(x.seed, 100+uint64(p.Rank()))),
	}
	do, err := x.row.open(ctx, m)
	for i := 0; i < x.warm && err == nil && !x.row.once; i++ {
		err = do(ctx, i)
	}
	return m, do, err
}

// calls makes the calls of a rank and judges how they end. The calls of one whose calls go
// on are as many at all members of its group, some of them when the fault is long known.
func (x *trial) calls(ctx context.Context, m *member, do step) error {
	r := m.p.Rank()
	want := x.verdict(r, x.needs)
	untilError := want == fails || x.dies(r)
	const before, afterwards = 3, 2
	for i := range mostCalls {
		switch {
		case i == 0 && x.fault == late && r == x.victim:
			x.at(ctx, lateness)
		case i == 0 && x.after, i == before && !untilError:
			x.at(ctx, x.known())
		}
		pause(ctx, gapAt(m.draw, i))
		begin := time.Now()
		err := do(ctx, x.warm+i)
		x.judge(m, want, begin, err)
		if err != nil || x.net.Killed(r) || x.row.once || !untilError && i == before+afterwards {
			return err
		}
	}
	x.fails(r, "%d calls without an error", mostCalls)
	return nil
}

// mostCalls is more than a rank makes until the loss is known.
const mostCalls = 1000

// needs are the ranks that calls of rank r need, but itself.
func (x *trial) needs(r gaspi.Rank) []gaspi.Rank { return neededBy(x.row, x.members, x.shift, r) }

// judge notes what is wrong with how a call has ended.
func (x *trial) judge(m *member, want verdict, begin time.Time, err error) {
	r, now := m.p.Rank(), time.Now()
	x.mu.Lock()
	x.ended++
	x.mu.Unlock()
	if x.net.Killed(r) {
		return
	}
	needed := x.needs(r)
	since, any := x.since(r, needed)
	if err == nil {
		if want == fails && any && begin.After(since) && x.row.once {
			x.fails(r, "no error of a call that began when the loss was known")
		}
		return
	}
	gone, named := errors.AsType[*gaspi.RankError](err)
	orphan := x.net.Orphaned(r)
	switch {
	case !now.Before(x.zero.Add(x.limit())) && (x.inTheDark(m) || want == fails && !x.anyLoss(r)):
		return // nothing is known, or nobody used what was cut
	case !now.Before(x.zero.Add(x.limit())) && x.fault == oneWay && now.Sub(begin) < slowly:
		return // calls have ended well until now: no call waits for what was cut, though a rank knows of it
	case errors.Is(err, context.DeadlineExceeded):
		x.fails(r, "hangs since %v: %v", begin.Sub(x.zero), err)
	case want == goesOn:
		x.fails(r, "an error of a call that needs nobody who is lost: %v", err)
	case errors.Is(err, gaspi.ErrLauncherLost):
		if latest := later(begin, x.settled(r, orphan)).Add(x.allowed()); orphan.IsZero() || now.After(latest) {
			x.fails(r, "the launcher was lost at %v: %v", orphan.Sub(x.zero), err)
		}
	case !errors.Is(err, gaspi.ErrRankDead) || !named && !(errors.Is(err, gaspi.ErrRevoked) && x.row.told && x.isLostToSome(r)):
		x.fails(r, "an error that names nobody: %v", err)
	case named && !x.isLost(r, gone.Rank) && !(x.row.told && gone.Rank != r && x.isLostToSome(gone.Rank)):
		x.fails(r, "it names rank %d, which is not lost: %v", gone.Rank, err)
	case any:
		if latest := later(begin, since).Add(x.allowed()); now.After(latest) {
			x.fails(r, "%v too late: %v", now.Sub(latest), err)
		}
	}
	if want == fails {
		x.checkState(m)
	}
}

// settled is when a call of rank r, which has lost the launcher, need wait no longer for what
// is under way: at once, but for rows that settle it with a peer, which may be cut off too.
func (x *trial) settled(r gaspi.Rank, orphan time.Time) time.Time {
	if !x.row.settles {
		return orphan
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, o := range x.needs(r) {
		orphan = later(orphan, x.net.Loss(r, o).Broken)
	}
	return orphan
}

// allowed is how late an error may be, after the loss was known and the call had begun:
// nothing within a host, else what is under way between hosts, and how often package
// gaspi looks for news.
func (x *trial) allowed() time.Duration {
	if x.wires == "shm" {
		return x.row.later(silence)
	}
	return 20*latency + look + x.row.later(silence)
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// since is when rank r had to know that it lost one of others, if it did.
func (x *trial) since(r gaspi.Rank, others []gaspi.Rank) (first time.Time, any bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, o := range others {
		loss := x.net.Loss(r, o)
		times := []time.Time{loss.Announced, x.left[o]}
		if x.orphans(r) { // nobody tells it
			times = nil
		}
		if !loss.Broken.IsZero() {
			times = append(times, loss.Broken.Add(patience))
		}
		for _, at := range times {
			if !at.IsZero() && (!any || at.Before(first)) {
				first, any = at, true
			}
		}
	}
	return first, any
}

// anyLoss reports whether rank r, or one that it needs, has lost one that it needs. If a
// link is cut that none of them uses, all goes on.
func (x *trial) anyLoss(r gaspi.Rank) bool {
	for _, o := range append(x.needs(r), r) {
		if _, any := x.since(o, x.needs(o)); any {
			return true
		}
	}
	return false
}

// isLost reports whether rank r has lost another.
func (x *trial) isLost(r, other gaspi.Rank) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	loss := x.net.Loss(r, other)
	return !loss.Announced.IsZero() || !loss.Broken.IsZero() || !x.left[other].IsZero()
}

// isLostToSome reports whether some rank has lost another.
func (x *trial) isLostToSome(other gaspi.Rank) bool {
	for r := range gaspi.Rank(len(x.hosts)) {
		if r != other && x.isLost(r, other) {
			return true
		}
	}
	return false
}

// inTheDark reports whether calls may wait for ever, since more than one member is lost.
func (x *trial) inTheDark(m *member) bool {
	n := 0
	for _, r := range m.group.Ranks() {
		if x.isLost(m.p.Rank(), r) {
			n++
		}
	}
	return n > 1 && x.row.dark
}

// checkState notes ranks that are not healthy although they are not lost.
func (x *trial) checkState(m *member) {
	if !time.Now().Before(x.zero.Add(x.limit())) {
		return // ranks return, since their time is up
	}
	for o, h := range m.p.State() {
		if h != gaspi.Healthy && !x.isLost(m.p.Rank(), gaspi.Rank(o)) {
			x.fails(m.p.Rank(), "rank %d counts as corrupt: %v", o, m.p.Failure(gaspi.Rank(o)))
		}
	}
}
