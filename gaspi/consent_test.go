package gaspi

import (
	"math/rand/v2"
	"testing"

	"github.com/gaspi-go/gaspi-go/notify"
)

// Every split of up to 65536 members has a value of its own, which carries no flags, and is
// read back from it.
func TestSplitsHaveValues(t *testing.T) {
	const members = 1 << 16
	last := notify.Value(0)
	for b := 1; b < 300; b++ {
		for a := range b {
			x := split{a, b}
			if v := x.value(); v != last+1 || splitOf(v) != x {
				t.Fatalf("%v has value %d after %d, which is read as %v", x, v, last, splitOf(v))
			}
			last++
		}
	}
	check := func(x split) {
		if v := x.value(); v == 0 || v&flagged != 0 || splitOf(v) != x {
			t.Fatalf("%v has value %#x, which is read as %v", x, v, splitOf(v))
		}
	}
	for b := 1; b < members; b++ {
		check(split{0, b})
		check(split{b - 1, b})
		check(split{rand.IntN(b), b})
	}
	for v := range notify.Value(1000) {
		if x := splitOf(flagged - 1 - v); x.a < 0 || x.a >= x.b { // what a rank may send that breaks rules
			t.Fatalf("value %#x is read as %v", flagged-1-v, x)
		}
	}
}
