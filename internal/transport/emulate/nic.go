package emulate

import (
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/sys"
)

// A nic is the network card of a rank: what is under way, and a thread that does what
// is due. Grade: warm. Whoever posts takes its lock for a few hundred nanoseconds.
type nic struct {
	t        *Transport
	net      Network
	epoch    time.Time // when zero was
	zero     int64     // on the system's monotonic clock, nanoseconds
	priority atomic.Bool

	bell    atomic.Uint32 // what the thread sleeps on; changed to wake it
	stopped chan struct{} // closed when the thread has ended

	mu     sync.Mutex
	events heap       // guarded by mu
	seq    uint64     // guarded by mu; events ever foreseen
	until  int64      // guarded by mu; when the thread will look by itself
	cpu    int64      // guarded by mu; when the sender's processor is free
	draw   *rand.Rand // guarded by mu
	spare  *message   // guarded by mu; to be used again
	ending bool       // guarded by mu; the thread ends when nothing is under way
	at     tally      // guarded by mu
}

// never is when nothing is due.
const never = math.MaxInt64

func newNIC(t *Transport, net Network) (*nic, error) {
	zero, err := sys.Monotonic()
	if err != nil {
		return nil, err
	}
	return &nic{
		t: t, net: net, epoch: time.Now(), zero: zero, until: never, stopped: make(chan struct{}),
		draw: rand.New(rand.NewPCG(net.Seed, uint64(t.rank))),
		at:   tally{limit: int64(net.lateness())},
	}, nil
}

// now is the time on the system's monotonic clock, in nanoseconds.
func (n *nic) now() int64 { return n.zero + int64(time.Since(n.epoch)) }

// early is how long before a message is due the thread gets up: about what a
// wake-up costs. It spends what is left looking at the clock.
const early = 6 * time.Microsecond

// loop does what is due until the card is closed and nothing is under way.
func (n *nic) loop() {
	defer close(n.stopped)
	// Without UnlockOSThread the thread ends with the goroutine.
	runtime.LockOSThread()
	before, _ := sys.PunctualThread() // without it deliveries are late, and counted
	n.priority.Store(before)
	for {
		bell := n.bell.Load()
		next, over := n.turn()
		if over {
			return
		}
		switch wait := time.Duration(next - n.now()); {
		case next == never:
			sys.FutexWait(&n.bell, bell, time.Hour)
		case wait > early:
			sys.FutexWait(&n.bell, bell, wait-early)
		}
	}
}

// turn does what is due and returns when something will be.
func (n *nic) turn() (next int64, over bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for len(n.events) > 0 && n.events[0].at <= n.now() {
		n.happenLocked(n.events.pop())
	}
	n.t.own.underway.Store(uint64(len(n.events)))
	n.until = never
	if len(n.events) > 0 {
		n.until = n.events[0].at
	} else if n.ending {
		return never, true
	}
	return n.until, false
}

// expectLocked foresees an event.
func (n *nic) expectLocked(at int64, what stage, m *message) {
	m.events++
	n.seq++
	n.events.push(event{at: at, seq: n.seq, what: what, m: m})
}

// ringUnlock gives up the lock, and wakes the thread if something is due before it
// would look.
func (n *nic) ringUnlock() {
	n.t.own.underway.Store(uint64(len(n.events)))
	ring := len(n.events) > 0 && n.events[0].at < n.until
	if ring {
		n.until = n.events[0].at
	}
	n.mu.Unlock()
	if ring {
		n.ring()
	}
}

func (n *nic) ring() {
	n.bell.Add(1)
	sys.FutexWake(&n.bell)
}

// latencyLocked is how long the first byte of a message travels.
func (n *nic) latencyLocked() int64 {
	l := int64(n.net.Latency)
	if n.net.Jitter > 0 {
		l += n.draw.Int64N(int64(n.net.Jitter))
	}
	return l
}

// issueLocked is when a message that is posted now reaches the card.
func (n *nic) issueLocked(now int64) int64 {
	n.cpu = max(n.cpu, now) + int64(n.net.Overhead)
	return n.cpu
}

// newMessageLocked is a message that is released when its last event has happened.
func (n *nic) newMessageLocked() *message {
	m := n.spare
	if m == nil {
		return new(message)
	}
	n.spare, m.next = m.next, nil
	return m
}

// closeAndDrain ends the thread when nothing is under way, or after a limit.
func (n *nic) closeAndDrain(limit time.Duration) {
	n.mu.Lock()
	n.ending = true
	n.mu.Unlock()
	n.ring()
	select {
	case <-n.stopped:
		return
	case <-time.After(limit):
	}
	n.mu.Lock()
	n.events = nil
	n.mu.Unlock()
	n.ring()
	<-n.stopped
}
