package emulate

import (
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
)

// foresee prepares for the rank that falls silent, if there is one.
func (t *Transport) foresee() {
	n := t.nic
	if n.net.Loss < 0 {
		return
	}
	if t.rank == n.net.Loss {
		t.own.silent.Store(uint64(n.now() + int64(n.net.Silent)))
	}
	t.alarm = time.AfterFunc(time.Hour, t.judge)
	t.alarm.Reset(n.net.Silent + n.net.Detect) // judge uses alarm
}

// judge takes a rank that has been silent for long enough for lost; the rank itself
// takes all others for lost. Ranks start at different times: who is early looks again.
func (t *Transport) judge() {
	loss := t.nic.net.Loss
	card := t.own
	if t.rank != loss {
		var err error
		if card, err = clocksOf(t.shared, loss); err != nil {
			if !t.closed.Load() { // it has not come yet, or has left
				t.alarm.Reset(max(t.nic.net.Detect, time.Millisecond))
			}
			return
		}
	}
	since := time.Duration(t.nic.now() - int64(card.silent.Load()))
	if wait := t.nic.net.Detect - since; wait > 0 {
		t.alarm.Reset(wait)
		return
	}
	for r := range base.Rank(t.cfg.Size) {
		if r != t.rank && (r == loss || t.rank == loss) && !t.closed.Load() {
			t.fallen(&base.RankError{Rank: r, Reason: "its host has fallen silent (emulated)"})
		}
	}
}

// fallen takes a rank for lost of which nobody else has told.
func (t *Transport) fallen(err *base.RankError) {
	t.Lose(err)
	if t.cfg.Lost != nil {
		t.cfg.Lost(err)
	}
}
