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
		looks     int
		pollFirst bool
		want      int
	}{
		{want: 1},
		{looks: 1, want: 1},
		{looks: 5, want: 5},
		{looks: 5, pollFirst: true, want: 1},
	} {
		w := WaitPolicy{Looks: c.looks, PollFirst: c.pollFirst, Yield: time.Hour, Sleep: Futex{}}
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
			t.Errorf("%+v: %d looks before the first yield (%v)", c, atYield, err)
		}
		if w.looks() != c.want || w.lineLooks() != 1 {
			t.Errorf("%+v: %d looks, %d at a line", c, w.looks(), w.lineLooks())
		}
	}
}
