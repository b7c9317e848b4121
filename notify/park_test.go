package notify

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// deafParker sleeps as long as it may: nobody wakes it. It records the limits of its sleeps.
type deafParker struct{ limits []time.Duration }

func (p *deafParker) Park(_ *atomic.Uint32, _ uint32, limit time.Duration) {
	p.limits = append(p.limits, limit)
	<-time.After(limit)
}
func (*deafParker) Wake(*atomic.Uint32) {}

// A value appears without a wake-up, early and late in a wait. Goal: the wait notices it after at most as
// long again as it has lasted, never later than the longest sleep, and a wait of a minute ends its sleep
// 18 times, where it would 600 times if it looked every 100 ms.
func TestSleepsGrowWithTheWait(t *testing.T) {
	const ms = time.Millisecond
	grown := []time.Duration{100 * ms, 100 * ms, 200 * ms, 400 * ms, 800 * ms, 1600 * ms, 3200 * ms}
	for _, c := range []struct {
		appears time.Duration
		limits  []time.Duration
	}{
		{50 * ms, grown[:1]},
		{150 * ms, grown[:2]},
		{time.Second, grown[:5]},
		{time.Minute, append(slices.Clone(grown), slices.Repeat([]time.Duration{lookSeldom}, 11)...)},
	} {
		synctest.Test(t, func(t *testing.T) {
			var p deafParker
			b := newArray(1, &WaitPolicy{YieldOnce: func() {}, Sleep: &p})
			time.AfterFunc(c.appears, func() { b.words[0].Store(1) })
			if _, err := b.Wait(context.Background(), Some(0, 1), nil, nil); err != nil {
				t.Error(err)
			}
			if !slices.Equal(p.limits, c.limits) {
				t.Errorf("a value after %v: sleeps of %v, want %v", c.appears, p.limits, c.limits)
			}
		})
	}
}
