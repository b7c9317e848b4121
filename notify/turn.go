package notify

import (
	"sync/atomic"
	"time"
)

// A turn is what a wait of ranks that share cores mostly takes: others run once, and what they have posted is there. So
// it is taken before anything that a longer wait needs.

const (
	// timedTurns is how many turns are timed after one of longTurn or more, before one in sampledTurns stands for all of
	// them: two looks at the clock take a twentieth of a short collective operation of ranks that share cores, and
	// nothing beside a long turn.
	timedTurns   = 1024
	sampledTurns = 16
	longTurn     = 20 * time.Microsecond
	// spread is odd, so that its multiples are spread evenly over all words, whatever turns are alike.
	spread = 0x9E3779B9
)

// turnWeight returns for how many turns the time of the n-th after a long one stands, from 0; 0 if it is not timed.
func turnWeight(n uint32) int64 {
	switch {
	case n < timedTurns:
		return 1
	case n*spread < 1<<32/sampledTurns:
		return sampledTurns
	}
	return 0
}

// takesTurns reports whether waiters yield and do not spin.
func (w *WaitPolicy) takesTurns() bool { return w.Spin == 0 && w.Yield > 0 }

// turn lets others run once. spent, if not nil, grows by about the nanoseconds of that.
func (b *Array) turn(spent *atomic.Int64) {
	n := b.turns.Load()
	b.turns.Store(n + 1) // turns of several goroutines may count as one
	weight := turnWeight(n)
	if spent == nil || weight == 0 {
		b.wait.YieldOnce()
		b.poll()
		return
	}
	start := now()
	b.wait.YieldOnce()
	b.poll()
	took := now() - start
	if took >= longTurn {
		b.turns.Store(0)
	}
	spent.Add(weight * int64(took))
}
