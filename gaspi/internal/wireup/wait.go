package wireup

import (
	"os"
	"runtime"
	"strconv"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/boot"
	"github.com/gaspi-go/gaspi-go/notify"
)

const (
	defaultSpin  = 100 * time.Microsecond // of the order of a sleep and a wake-up across cores
	defaultYield = 100 * time.Microsecond
	// pollYield is defaultYield where nothing arrives unless ranks poll, and they share
	// cores: who sleeps leaves that to a thread, which has to wait for a core too. Ranks
	// that share memory lose by it: those who wait for a barrier meanwhile made round
	// trips of two others twice as long. Over rdma it is also for ranks that have cores of
	// their own: windows of 1 MiB writes took 249 us a write with defaultYield, and 202.
	pollYield = time.Millisecond
	// twoLooks is how often a rank looks before it yields if it is bound to a core with one other: for 100 ns. The other
	// cores' ranks are in the same call, mostly, and what they post meanwhile spares a switch. See decision 0037.
	twoLooks = 8
)

// LocalCores is how many cores the ranks of this host share. The launcher says
// it, because a rank that is bound to one core sees only that one.
func LocalCores() int {
	if n, err := strconv.Atoi(os.Getenv(boot.EnvLocalCores)); err == nil { // else it is not set: CheckEnvironment
		return n
	}
	return runtime.GOMAXPROCS(0)
}

// waitPolicy is how the rank waits before a transport changes it. Ranks sleep at once where a
// network is emulated: one that polled would keep the cores from the threads that deliver, and one
// that yielded would get its core back only after the time slice of a rank that computes.
func (d *dialer) waitPolicy(apart bool) *notify.WaitPolicy {
	spin, yield := spinTime(d.Spin, d.info.LocalSize, LocalCores()), yieldTime(d.Yield)
	switch {
	case d.Emulate != "":
		return &notify.WaitPolicy{YieldOnce: func() {}, Sleep: notify.Futex{}}
	case apart:
		w := notify.ProcessWait(spin, yield)
		w.Looks = looks(d.info.LocalSize, LocalCores(), runtime.NumCPU())
		return w
	}
	return notify.GoroutineWait(spin, yield)
}

// spinTime is how long waits spin where ranks local ranks share cores cores.
func spinTime(spin time.Duration, ranks, cores int) time.Duration {
	switch {
	case spin < 0 || ranks > cores && spin == 0:
		return 0
	case spin == 0:
		return defaultSpin
	}
	return spin
}

// looks is how often waits that do not spin look before they yield where ranks local ranks share cores cores, and this
// one may use so many of them.
func looks(ranks, cores, own int) int {
	if own == 1 && cores > 1 && ranks == 2*cores {
		return twoLooks
	}
	return 1
}

// yieldTime is how long waits yield.
func yieldTime(yield time.Duration) time.Duration {
	switch {
	case yield < 0:
		return 0
	case yield == 0:
		return defaultYield
	}
	return yield
}

// A polledTransport is one that makes progress when those who wait poll it.
type polledTransport interface {
	PolledBy(w *notify.WaitPolicy)
}

// pollWhileWaiting lets the waits of this rank poll t, besides what they poll already. only says
// that nothing arrives without.
func (d *dialer) pollWhileWaiting(t polledTransport, only bool) {
	t.PolledBy(d.wait)
	d.wait.PollFirst = only
	if only && d.wait.Spin == 0 {
		d.yieldLonger()
	}
}

// yieldLonger is for waits that do the work of a thread as long as they last: to hand it
// over and to be woken costs more than a sleep does.
func (d *dialer) yieldLonger() {
	if d.Yield == 0 && d.Emulate == "" {
		d.wait.Yield = pollYield
	}
}
