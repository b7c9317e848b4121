package notify

import (
	"context"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/sys/cpu"
)

// A Parker puts goroutines to sleep on a word and wakes them. Park returns when
// Wake was called for the word since it held val, or early for any reason. Where a value may
// appear without a Wake, it returns after limit.
type Parker interface {
	Park(word *atomic.Uint32, val uint32, limit time.Duration)
	Wake(word *atomic.Uint32)
}

// WaitPolicy says how a process waits: it spins, then yields, then sleeps, and begins anew
// instead of sleeping while its polls make progress often. One
// value serves all arrays of a process; it is not changed once in use.
type WaitPolicy struct {
	// Spin is how long a waiter looks again and again without giving up its
	// core. Zero where the ranks of this host outnumber its cores: there a
	// spinner only keeps away the rank that it waits for.
	Spin time.Duration
	// Looks is how often a waiter that does not spin looks before it yields for the first time, once if it is 0.
	Looks int
	// Yield is how long, after that, a waiter looks and lets others run in turn.
	// It should be about the cost of a sleep and a wake-up, and is what makes
	// oversubscribed ranks fast.
	Yield time.Duration
	// YieldOnce lets others run.
	YieldOnce func()
	// Sleep parks the waiter when Spin and Yield are over.
	Sleep Parker
	// FenceAll, if not nil, executes a full memory barrier on the cores of all posters. A waiter calls
	// it before its last look, if posters have asked for it that store a value and look for sleepers
	// without a barrier between the two (Array.AskForFences). It is set before the first array is made.
	FenceAll func()
	// Poll, if not nil, makes progress on transports that need the waiter's
	// help, and reports whether anything happened. It is called between looks and
	// must not block. A wait whose context has ended calls it once.
	Poll func() bool
	// PollFirst says that nothing arrives without Poll, because no peer can write
	// to this rank's memory: it is called before every look. Otherwise a waiter
	// looks some times first, since what peers write themselves comes sooner.
	PollFirst bool
	// Pollers, if not nil, counts the waits that call Poll again and again, also while they have no
	// core. A wait that sleeps does not count, nor does one without Poll.
	Pollers *atomic.Int32
	// Lasting, if not nil, is called once by a wait that has slept for LastsAfter, with those that it goes on for, in the
	// waiting goroutine, with the array, what it waits for and when it began. The Condition of a wait for a
	// function has a range of no notifications. The function that Lasting returns, if not nil, is
	// called when the wait has ended.
	Lasting func(b *Array, w Condition, since time.Time) (ended func())
}

// LastsAfter is how long a wait sleeps before WaitPolicy.Lasting is called: long enough for what
// that costs to be nothing beside it.
const LastsAfter = 200 * time.Millisecond

// looks is how often a waiter looks before it does anything else.
func (w *WaitPolicy) looks() int {
	switch {
	case w.PollFirst:
		return 1
	case w.Spin > 0:
		return firstLooks
	}
	return max(1, w.Looks)
}

// lineLooks is looks of a line, behind which a waiter waits for the notification.
func (w *WaitPolicy) lineLooks() int {
	if w.Spin > 0 {
		return w.looks()
	}
	return 1
}

// chunk is how often a spinner looks between two polls.
func (w *WaitPolicy) chunk() int {
	if w.PollFirst {
		return 1
	}
	return spinChunk
}

// park is the parker of w, or one that wakes other processes when this one only
// posts.
func (w *WaitPolicy) park() Parker {
	if w == nil {
		return Futex{}
	}
	return w.Sleep
}

// spinChunk is how often a spinner looks between two looks at the clock, so that
// they take a small part of the time.
const spinChunk = 16

// firstLooks is how often a spinner looks before it does anything else, about a
// microsecond: a reply that is on its way arrives meanwhile, and reading the
// clock or asking the context would delay its discovery.
const firstLooks = 32

// Wait blocks until condition w holds and returns the id as Try does. It ends early with the
// error of ctx, with the error of stop, which is asked before the wait begins to sleep and
// whenever the array was woken, or with base.ErrClosed. An early end changes nothing: waiting
// again goes on. stop may be nil. spent, if not nil, grows by the nanoseconds waited; a wait of
// less than about a microsecond is not measured, and of those that end in a turn of others a sample
// stands for all. A caller whose condition holds at once pays
// nothing for any of this.
func (b *Array) Wait(ctx context.Context, w Condition, stop func() error, spent *atomic.Int64) (ID, error) {
	if w.end() >= b.room.Load() {
		return 0, b.outside(w)
	}
	if w.count() != 1 { // most waits whose condition holds end here
		if id, ok := b.testMany(w); ok {
			return id, nil
		}
	} else if w.accepts(b.words[w.first()].Load()) {
		return ID(w.first()), nil
	}
	if id, ok := b.soon(w); ok {
		return id, nil
	}
	return waitOn(ctx, b, w, stop, spent)
}

// Soon returns the id that Wait would return without measuring its time, within about a microsecond; it
// reports whether there was one.
func (b *Array) Soon(w Condition) (ID, bool) {
	if w.end() >= b.room.Load() {
		return 0, false
	}
	return b.soon(w)
}

// soon is the first looks of a wait.
func (b *Array) soon(w Condition) (ID, bool) {
	if w.count() == 1 {
		return ID(w.first()), b.soonOne(w)
	}
	for looks := b.wait.looks(); ; cpu.Relax() {
		if id, ok := b.testMany(w); ok {
			return id, true
		}
		if looks--; looks == 0 {
			return 0, false
		}
	}
}

// soonOne is soon of a condition of one notification.
func (b *Array) soonOne(w Condition) bool {
	word := &b.words[w.first()]
	for looks := b.wait.looks(); ; cpu.Relax() {
		if w.accepts(word.Load()) {
			return true
		}
		if looks--; looks == 0 {
			return false
		}
	}
}

// WaitFunc is Wait for anything that notifications of the array say: it blocks
// until look reports true. look is called in the waiting goroutine, again and
// again, and at least once after every post; it must not block.
func (b *Array) WaitFunc(ctx context.Context, look func() bool, stop func() error, spent *atomic.Int64) error {
	if b.closed() {
		return base.ErrClosed
	}
	for looks := b.wait.looks(); ; cpu.Relax() {
		if look() { // most waits end here
			return nil
		}
		if looks--; looks == 0 {
			break
		}
	}
	_, err := waitOn(ctx, b, predicateFunc(look), stop, spent)
	return err
}

// SleepFunc is WaitFunc that neither spins nor yields: it leaves the core at once to those
// who have something to do. It is for goroutines in the background: WaitPolicy.Lasting is not told of it.
func (b *Array) SleepFunc(ctx context.Context, look func() bool, stop func() error, spent *atomic.Int64) error {
	if b.closed() {
		return base.ErrClosed
	}
	if look() {
		return nil
	}
	start := now()
	b.poll()
	if ctx.Done() != nil {
		cancel := context.AfterFunc(ctx, func() { b.alarms.ring(b) })
		defer cancel()
	}
	_, err := sleep(ctx, b, predicateFunc(look), stop, start, lasting{told: true})
	if spent != nil {
		spent.Add(int64(now() - start))
	}
	return err
}

// A predicate decides whether a wait is over: a Condition, or a function. holds returns the id
// that satisfies it.
type predicate interface{ holds(b *Array) (ID, bool) }

func (w Condition) holds(b *Array) (ID, bool) { return b.test(w) }

type predicateFunc func() bool

func (f predicateFunc) holds(*Array) (ID, bool) { return 0, f() }

// waitOn is a wait whose first looks were in vain. It and what it calls are
// generic so that a Condition stays in registers and no wait allocates.
func waitOn[S predicate](ctx context.Context, b *Array, s S, stop func() error, spent *atomic.Int64) (ID, error) {
	b.wait.countPoller(1)
	defer b.wait.countPoller(-1)
	if b.wait.takesTurns() && ctx.Err() == nil {
		b.turn(spent)
		if id, ok := s.holds(b); ok {
			return id, nil
		}
	}
	if err := b.ended(ctx, stop); err != nil { // also what makes an ended context a quick test
		b.poll() // a caller that only looks, again and again, may be the only one who makes progress
		return last(b, s, err)
	}
	start := now()
	id, err := waitSlow(ctx, b, s, stop, start)
	if spent != nil {
		spent.Add(int64(now() - start))
	}
	return id, err
}

func waitSlow[S predicate](ctx context.Context, b *Array, s S, stop func() error, start time.Duration) (ID, error) {
	for since, moving := start, true; moving; since = now() {
		var n polls
		if id, ok := spin(b, s, since, &n); ok {
			return id, nil
		}
		if moving = n.pay(b.wait); !moving {
			if id, ok := yield(b, s, since, &n); ok {
				return id, nil
			}
			moving = n.pay(b.wait)
		}
		if err := b.ended(ctx, stop); err != nil {
			return last(b, s, err)
		}
		moving = moving && since-start < movingMost
	}
	if ctx.Done() != nil {
		b.alarms.begin(ctx, b)
		defer b.alarms.end(ctx)
	}
	b.wait.countPoller(-1)
	defer b.wait.countPoller(1)
	if r, ok := ctx.(resumed); ok {
		start = min(start, now()-time.Since(r.Began()))
	}
	return sleep(ctx, b, s, stop, start, lasting{told: b.wait.Lasting == nil})
}

// A resumed context is that of a wait that goes on where others left off, as a call does that is made again and again with
// short time limits. Began is when the first of them began.
type resumed interface{ Began() time.Time }

// countPoller counts n waits more that poll.
func (w *WaitPolicy) countPoller(n int32) {
	if w.Pollers != nil {
		w.Pollers.Add(n)
	}
}

// began is when the process began. now is the time since then, which takes one look at a clock of the system where
// time.Now takes two.
var began = time.Now()

func now() time.Duration { return time.Since(began) }

// movingMost bounds how long a wait puts off its sleep because it makes progress: Lasting is told
// only of waits that sleep.
const movingMost = LastsAfter

// polls count the calls of WaitPolicy.Poll since a wait last began to spin.
type polls struct {
	all   int
	moved int // those that made progress
}

// payEvery is one in how many polls must make progress for a wait to go on polling. A stream between
// two ranks of one host moves at every second to fourth, one over a network of 1 GB/s at every fortieth.
const payEvery = 16

// pay reports whether the waiter should go on polling instead of sleeping: it moves the bytes that it
// waits for. A thread that did that instead would sleep and be woken for every piece that arrives,
// which made a write of 16 MiB over a socket take 3.2 ms instead of 1.8.
func (n *polls) pay(w *WaitPolicy) bool {
	return n.moved*payEvery > n.all && w.Spin+w.Yield > 0
}

func (n *polls) poll(w *WaitPolicy) {
	if w.Poll == nil {
		return
	}
	n.all++
	if w.Poll() {
		n.moved++
	}
}

// spin looks until WaitPolicy.Spin after since.
func spin[S predicate](b *Array, s S, since time.Duration, n *polls) (ID, bool) {
	for b.wait.Spin > 0 && now()-since < b.wait.Spin {
		n.poll(b.wait)
		for range b.wait.chunk() {
			if id, ok := s.holds(b); ok {
				return id, true
			}
			cpu.Relax()
		}
	}
	return 0, false
}

// yield looks and lets others run in turn, until WaitPolicy.Yield after the spin.
// It yields at least once, so that others run even where waits should not yield.
func yield[S predicate](b *Array, s S, since time.Duration, n *polls) (ID, bool) {
	until := b.wait.Spin + b.wait.Yield
	for turn := 1; ; turn++ {
		b.wait.YieldOnce()
		if turn%goschedEvery == 0 {
			runtime.Gosched()
		}
		n.poll(b.wait)
		if id, ok := s.holds(b); ok {
			return id, true
		}
		if until <= 0 || turn%clockEvery == 0 && now()-since >= until {
			return 0, false
		}
	}
}

// clockEvery is how many turns pass between two looks at the clock, which costs a
// tenth of a turn.
const clockEvery = 8

// goschedEvery is how many turns of the operating system a waiter takes before
// it lets the other goroutines of its process run, which the system knows
// nothing of. Doing both each time made a barrier of 4 ranks on 2 cores four
// times slower: runtime.Gosched wakes another thread to look for goroutines.
const goschedEvery = 32

func (b *Array) poll() {
	if b.wait.Poll != nil {
		b.wait.Poll()
	}
}

// sleep announces itself in the wake word, looks once more, and parks until the
// word changes. A value may appear without a wake-up, because hardware wrote it
// or the poster died between its two steps: parkers therefore return now and
// then by themselves.
func sleep[S predicate](ctx context.Context, b *Array, s S, stop func() error, start time.Duration, lasts lasting) (ID, error) {
	defer lasts.end()
	for took := now() - start; ; took = now() - start {
		word := b.wake.Or(1) | 1
		if b.wait.FenceAll != nil && b.fences.Load() == fencesAsked {
			b.wait.FenceAll()
		}
		if id, ok := s.holds(b); ok {
			return id, nil
		}
		if err := b.ended(ctx, stop); err != nil {
			return last(b, s, err)
		}
		if !lasts.told && took >= LastsAfter {
			want, _ := any(s).(Condition)
			lasts.told, lasts.ended = true, b.wait.Lasting(b, want, time.Now().Add(-took))
		}
		b.wait.Sleep.Park(b.wake, word, nextLook(took))
		b.poll()
		if id, ok := s.holds(b); ok {
			return id, nil
		}
	}
}

// lasting is what a sleep knows of its call of WaitPolicy.Lasting.
type lasting struct {
	told  bool // or there is nobody to tell
	ended func()
}

func (l *lasting) end() {
	if l.ended != nil {
		l.ended()
	}
}

// ended returns why a wait should end now, or nil.
func (b *Array) ended(ctx context.Context, stop func() error) error {
	if b.closed() {
		return base.ErrClosed
	}
	if stop != nil {
		if err := stop(); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// last looks once more before a wait ends with err: what arrived before the
// cause of the end must not be lost to it.
func last[S predicate](b *Array, s S, err error) (ID, error) {
	if id, ok := s.holds(b); ok {
		return id, nil
	}
	return 0, err
}
