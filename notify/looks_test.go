package notify

import (
	"context"
	"testing"
	"time"
)

// A wait that does not spin looks as often as its policy says before it yields, and as often with any condition. It looks
// at a line once, and once at all where nothing arrives without a poll.
func TestLooksBeforeTheFirstYield(t *testing.T) {
	for _, c := range []struct {
		policy WaitPolicy
		want   int
	}{
		{WaitPolicy{}, 1},
		{WaitPolicy{Looks: 1}, 1},
		{WaitPolicy{Looks: 5}, 5},
		{WaitPolicy{Looks: 5, PollFirst: true}, 1},
	} {
		w := c.policy
		w.Yield, w.Sleep = time.Hour, Futex{}
		seen, atYield := 0, 0
		b := newArray(1, &w)
		w.YieldOnce = func() {
			if atYield == 0 {
				atYield = seen
			}
			b.Set(0, 1)
		}
		look := func() bool { seen++; return b.Load(0) != 0 }
		if err := b.WaitFunc(context.Background(), look, nil, nil); err != nil || atYield != c.want {
			t.Errorf("%+v: %d looks before the first yield, want %d (%v)", c.policy, atYield, c.want, err)
		}
		if w.looks() != c.want || w.lineLooks() != 1 {
			t.Errorf("%+v: %d looks, %d at a line", c.policy, w.looks(), w.lineLooks())
		}
	}
}
