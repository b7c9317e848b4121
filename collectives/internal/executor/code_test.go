package executor

import (
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

func TestFormsThatAreSent(t *testing.T) {
	call := schedule.Call{Op: schedule.AllReduce, Size: 3, Count: 30, Line: 8}
	emit := func(b *schedule.Builder, c *schedule.Call) {
		n := schedule.CodedLen(c.Count, b.Line())
		m, other := b.Scratch(n), b.Scratch(n)
		b.Encode(m.At(b.Rank(), 0, n), b.In(b.Rank(), 0, c.Count))
		b.Decode(b.Out(b.Rank(), 0, c.Count), other.At(b.Rank(), 0, n))
	}
	s := schedule.Build(&call, 1, emit)
	c := compiler{forms: s.Coded()}
	for _, x := range []struct {
		off  int
		want bool
	}{{0, true}, {37, true}, {40, true}, {80, false}} {
		if got := c.holdsForm(schedule.Region{Rank: 1, Off: x.off, Len: 1}); got != x.want {
			t.Errorf("element %d of scratch holds a form: %v", x.off, got)
		}
	}
}
