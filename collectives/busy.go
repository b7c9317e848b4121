package collectives

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/agree"
	"github.com/gaspi-go/gaspi-go/internal/sys"
)

// This file is hot: every call of a team begins and ends here.

// errBusy says that calls of a team overlap.
var errBusy = fmt.Errorf("%w: another goroutine is in a call of this team; make a team for each goroutine, with a Config.Tag of its own, or hold a lock around its calls", gaspi.ErrInUse)

// An ownership says who may look at a team: a caller, or the goroutine that makes progress in the
// background. A second caller is refused. A caller that meets the goroutine waits for it, and the
// goroutine goes away when it meets a caller.
type ownership struct {
	owner   atomic.Uint32
	wanting atomic.Int32 // callers that wait for the goroutine

	mu   sync.Mutex
	free sync.Cond // its lock is mu; broadcast when the goroutine has released the team
}

// Owners.
const (
	nobody uint32 = iota
	aCaller
	theProgress // the goroutine of background.go
)

// enter makes sure that one goroutine at a time is in a call of the team, its plans
// and its handles. A caller that it refuses must not look at the team.
func (t *Team) enter() bool {
	return t.busy.owner.CompareAndSwap(nobody, aCaller) || t.busy.enterSlow()
}

// looksBeforeSleep is how often a caller looks for the end of a pass of the goroutine before it
// sleeps: most passes take a microsecond.
const looksBeforeSleep = 64

// enterSlow is enter of a team that is not free. It blocks while the goroutine has the team, which
// it releases at the next instruction that waits for a post.
func (o *ownership) enterSlow() bool {
	o.wanting.Add(1)
	defer o.wanting.Add(-1)
	for range looksBeforeSleep {
		if o.owner.CompareAndSwap(nobody, aCaller) {
			return true
		}
		if o.owner.Load() == aCaller {
			return false
		}
		sys.Relax()
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.free.L = &o.mu
	for !o.owner.CompareAndSwap(nobody, aCaller) {
		if o.owner.Load() == aCaller {
			return false
		}
		o.free.Wait()
	}
	return true
}

// enterAtOnce is enter that never blocks. It returns nobody if the caller has the team now, and else
// who has it.
func (o *ownership) enterAtOnce() uint32 {
	for {
		if o.owner.CompareAndSwap(nobody, aCaller) {
			return nobody
		}
		if who := o.owner.Load(); who != nobody {
			return who
		}
	}
}

// leave pairs with the next enter.
func (t *Team) leave() {
	if t.ops.started > 0 {
		t.leaveToProgress()
		return
	}
	sys.StoreRelease(&t.busy.owner, nobody)
}

// enterProgress is enter of the goroutine, which gives way to callers.
func (o *ownership) enterProgress() bool {
	return o.wanting.Load() == 0 && o.owner.CompareAndSwap(nobody, theProgress)
}

// leaveProgress pairs with the last enterProgress.
func (o *ownership) leaveProgress() {
	o.owner.Store(nobody)
	if o.wanting.Load() > 0 {
		o.mu.Lock()
		o.free.Broadcast()
		o.mu.Unlock()
	}
}

// isCalled reports whether a caller has the team, or waits for it: it looks after all operations
// when it leaves.
func (o *ownership) isCalled() bool { return o.wanting.Load() > 0 || o.owner.Load() == aCaller }

// refused is the error of a call for which enter returned false.
func refused(op string) error {
	return agree.Outermost(&gaspi.OpError{Op: "collectives: " + op, Err: errBusy})
}
