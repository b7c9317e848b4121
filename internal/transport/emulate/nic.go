package emulate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/gaspi/emulation"
	"github.com/gaspi-go/gaspi-go/internal/heap"
	"github.com/gaspi-go/gaspi-go/internal/sys"
	"github.com/gaspi-go/gaspi-go/internal/sys/thread"
)

// A nic is the network card of a rank: what is under way, and a thread that does what
// is due. Grade: warm. A call that posts takes its lock for a few hundred nanoseconds.
type nic struct {
	t      *Transport
	net    emulation.Network
	epoch  time.Time   // when zero was
	zero   int64       // on the system's monotonic clock, nanoseconds
	grain  int64       // nanoseconds; see grainOf
	humble atomic.Bool // the thread has no priority over others

	alarm   *thread.Alarm // what the thread sleeps on
	stopped chan struct{} // closed when the thread has ended

	mu     sync.Mutex
	events heap.Heap[timedEvent] // guarded by mu
	seq    uint64                // guarded by mu; events ever foreseen
	until  int64                 // guarded by mu; what the alarm is set for, but for lead
	lead   int64                 // guarded by mu; nanoseconds that the thread takes to get up
	cpu    int64                 // guarded by mu; when the sender's processor is free
	draw   *rand.Rand            // guarded by mu
	spare  *packetTrain          // guarded by mu; to be used again
	ending bool                  // guarded by mu; the thread ends when nothing is under way
	at     tally                 // guarded by mu; how late events happened
	up     tally                 // guarded by mu; how late the rank noticed
}

// A timedEvent is something that happens at a time on the system's monotonic clock.
type timedEvent struct {
	at   int64
	seq  uint64 // of two at one time, the one that was foreseen first
	what stage
	m    *packetTrain
}

// Before orders events by their time.
func (e timedEvent) Before(f timedEvent) bool { return e.at < f.at || e.at == f.at && e.seq < f.seq }

// never is when nothing is due.
const never = math.MaxInt64

func newNIC(t *Transport, net emulation.Network) (*nic, error) {
	epoch, zero, err := clock()
	if err != nil {
		return nil, err
	}
	alarm, err := thread.NewAlarm()
	if err != nil {
		return nil, fmt.Errorf("an emulated network: %w", base.Lacking(err))
	}
	return &nic{
		t: t, net: net, grain: grainOf(net), alarm: alarm, epoch: epoch, zero: zero, until: never, stopped: make(chan struct{}),
		draw: rand.New(rand.NewPCG(net.Seed, uint64(t.rank))),
		at:   tally{limit: int64(lateness(&net))}, up: tally{limit: int64(lateness(&net))},
	}, nil
}

// clock reads Go's clock and the system's monotonic one at the same moment, as well as
// a few tries can: a thread that loses its core in between would be wrong ever after.
func clock() (epoch time.Time, zero int64, err error) {
	const tries = 20
	least := int64(never)
	for range tries {
		before, err := sys.Monotonic()
		if err != nil {
			return epoch, 0, err
		}
		at := time.Now()
		after, err := sys.Monotonic()
		if err != nil {
			return epoch, 0, err
		}
		if between := after - before; between < least {
			least, epoch, zero = between, at, before+between/2
		}
	}
	return epoch, zero, nil
}

// grainOf is how many nanoseconds may lie between what is done together to spare the
// thread from getting up: freeing sources, which takes so much longer, and queueing at
// the card of the receiver, which happens so much sooner than the first byte arrives
// there and may make it idle for so long.
func grainOf(net emulation.Network) int64 { return max(1, min(int64(net.Latency)/8, 100_000)) }

// now is the time on the system's monotonic clock, in nanoseconds.
func (n *nic) now() int64 { return n.zero + int64(time.Since(n.epoch)) }

// loop does what is due until the card is closed and nothing is under way.
func (n *nic) loop() {
	defer close(n.stopped)
	// Without UnlockOSThread the thread ends with the goroutine.
	runtime.LockOSThread()
	before, _ := thread.SetPunctual() // without it deliveries are late, and counted
	n.humble.Store(!before)
	for !n.turn() {
		n.alarm.Wait()
		n.upAt(n.now())
	}
}

// upAt learns from when the thread got up how long before its time it must be called.
func (n *nic) upAt(now int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.until != never && now > n.until-n.lead {
		n.lead = adapt(n.lead, now-n.until, mostLead)
	}
}

// mostLead is more than getting up takes on a machine that is not overloaded, in
// nanoseconds.
const mostLead = 30_000

// adapt moves an estimate towards the median of what it estimates: by a step up if
// that came too late, and down if it came too soon.
func adapt(estimate, late, most int64) int64 {
	const step = 250
	if late > 0 {
		return min(estimate+step, most)
	}
	return max(estimate-step, 0)
}

// turn does what is due and reports whether that was all.
func (n *nic) turn() (over bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for len(n.events) > 0 && n.events[0].at <= n.now()+n.lead {
		n.happenLocked(n.events.Pop())
	}
	n.t.own.underway.Store(uint64(len(n.events)))
	n.until = never
	n.armLocked()
	return n.ending && len(n.events) == 0
}

// armLocked sets the alarm for the first event, if that comes before what it is set for.
func (n *nic) armLocked() {
	if len(n.events) > 0 && n.events[0].at < n.until {
		n.setLocked(n.events[0].at)
	}
}

// setLocked sets the alarm.
func (n *nic) setLocked(at int64) {
	n.until = at
	if err := n.alarm.Set(max(at-n.lead, 1)); err != nil {
		panic(err) // the descriptor is open and the time is one
	}
}

// expectLocked foresees an event.
func (n *nic) expectLocked(at int64, what stage, m *packetTrain) {
	m.events++
	n.seq++
	n.events.Push(timedEvent{at: at, seq: n.seq, what: what, m: m})
}

// sentUnlock gives up the lock after something was foreseen. It does not wake the thread.
func (n *nic) sentUnlock() {
	n.t.own.underway.Store(uint64(len(n.events)))
	n.armLocked()
	n.mu.Unlock()
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
func (n *nic) newMessageLocked() *packetTrain {
	m := n.spare
	if m == nil {
		return new(packetTrain)
	}
	n.spare, m.next = m.next, nil
	return m
}

// closeAndDrain ends the thread when nothing is under way, or after a limit.
func (n *nic) closeAndDrain(limit time.Duration) {
	defer n.alarm.Close()
	n.mu.Lock()
	n.ending = true
	n.setLocked(n.now())
	n.mu.Unlock()
	select {
	case <-n.stopped:
		return
	case <-time.After(limit):
	}
	n.mu.Lock()
	n.events = nil
	n.setLocked(n.now())
	n.mu.Unlock()
	<-n.stopped
}
