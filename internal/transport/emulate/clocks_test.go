package emulate

import (
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi/emulation"
)

func newClocks(t *testing.T) *clocks {
	t.Helper()
	m, err := memory(clockBytes, 1)
	if err != nil {
		t.Fatal(err)
	}
	c, err := clocksOn(m.All())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A port takes a message at a time; a short one does not wait for longer ones, but
// keeps later ones.
func TestPort(t *testing.T) {
	const long = shortMessage + 1
	type use struct {
		from, nanos int64
		bytes       uint64
		start       int64
	}
	for _, c := range []struct {
		name string
		uses []use
	}{
		{"idle", []use{{100, 10, long, 100}, {200, 10, long, 200}}},
		{"busy", []use{{100, 10, long, 100}, {100, 10, long, 110}, {105, 10, long, 120}, {200, 10, long, 200}}},
		{"short ones in turn", []use{{100, 10, 8, 100}, {100, 10, 8, 110}, {100, 10, shortMessage, 120}}},
		{"short between long", []use{{100, 50, long, 100}, {110, 10, 8, 110}, {120, 50, long, 160}, {130, 10, 8, 130}, {300, 1, long, 300}}},
		{"out and in are apart", []use{{0, 10, long, 0}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			clock := newClocks(t)
			if got := clock.in.take(0, 5, long); got != 0 {
				t.Fatalf("the other direction began at %d", got)
			}
			for i, u := range c.uses {
				if got := clock.out.take(u.from, u.nanos, u.bytes); got != u.start {
					t.Errorf("use %d begins at %d, want %d", i, got, u.start)
				}
			}
		})
	}
}

func TestTally(t *testing.T) {
	y := tally{limit: 1000}
	if l := y.lateness(); l.Events != 0 || l.P99 != 0 || l.Share() != 0 {
		t.Errorf("of nothing: %v", l)
	}
	for i := range int64(100) {
		y.add(i * 20) // 0 to 1980
	}
	y.add(-5) // too early is not late
	l := y.lateness()
	if l.Events != 101 || l.Late != 49 {
		t.Errorf("%d of %d late, want 49 of 101", l.Late, l.Events)
	}
	// Classes are an eighth wide, and never beyond the most there was.
	if l.P50 < 980 || l.P50 > 980*9/8 || l.P99 < 1960 || l.P99 > 1980 {
		t.Errorf("p50 %d, p99 %d", l.P50, l.P99)
	}
	for nanos := range int64(5000) {
		if k := classOf(nanos); topOf(k) < nanos || k > 0 && topOf(k-1) >= nanos {
			t.Fatalf("%d is in class %d, which ends at %d", nanos, k, topOf(k))
		}
	}
	p := emulation.Punctuality{Delivered: emulation.Lateness{Events: 100, Late: 5}}
	if !p.Valid() {
		t.Error("5 % are valid")
	}
	if q := p.Merge(emulation.Punctuality{Noticed: emulation.Lateness{Events: 10, Late: 1}, Humble: true}); q.Valid() || !q.Humble {
		t.Errorf("10 %% are valid: %v", q)
	}
}

func TestAdapt(t *testing.T) {
	x := int64(0)
	for range 1000 {
		x = adapt(x, 9_000-x, 30_000) // who gets up takes 9 us
	}
	if x < 8_500 || x > 9_500 {
		t.Errorf("%d ns, want about 9,000", x)
	}
	if x = adapt(x, 1, x); x > 9_500 {
		t.Errorf("%d ns, beyond the bound", x)
	}
}
