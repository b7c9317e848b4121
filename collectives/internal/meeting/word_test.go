package meeting

import (
	"math/rand/v2"
	"testing"
)

func TestWordsOfMembersInOneCall(t *testing.T) {
	for _, call := range []Word{Flush, Alloc, Release, Reset, Split} {
		mine, theirs := Say(call, 7, 0xabcdef<<40, 2), Say(call, 7, 0xabcdef<<40, 2)
		heard := mine | theirs
		if !heard.Of(call) || !heard.Alike() || heard.Declined() {
			t.Errorf("call %#x: of %v, alike %v, declined %v", call, heard.Of(call), heard.Alike(), heard.Declined())
		}
	}
}

func TestWordsThatDiffer(t *testing.T) {
	mine := Say(Alloc, 7, 0xabcdef<<40, 2)
	for _, c := range []struct {
		name                string
		theirs              Word
		of, alike, declined bool
	}{
		{"another call", Say(Release, 7, 0xabcdef<<40, 2), false, true, false},
		{"another number", Say(Alloc, 8, 0xabcdef<<40, 2), true, false, false},
		{"another signature", Say(Alloc, 7, 0xabcdee<<40, 2), true, false, false},
		{"declined", Say(Alloc, 7, 0xabcdef<<40, 2).Decline(), true, true, true},
		{"a reset", Say(Reset, 7, 0xabcdef<<40, 2), false, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			heard := mine | c.theirs
			if heard.Of(Alloc) != c.of || heard.Alike() != c.alike || heard.Declined() != c.declined {
				t.Errorf("of %v, alike %v, declined %v; want %v, %v, %v", heard.Of(Alloc), heard.Alike(), heard.Declined(), c.of, c.alike, c.declined)
			}
		})
	}
}

func TestMembersInAResetMayHaveStoppedAtDifferentCalls(t *testing.T) {
	if heard := Say(Reset, 7, 1<<60, 0) | Say(Reset, 9, 1<<61, 0); !heard.Of(Reset) || !heard.Alike() {
		t.Errorf("of a reset %v, alike %v", heard.Of(Reset), heard.Alike())
	}
}

func TestUneven(t *testing.T) {
	for made := range 7 {
		mine, theirs := Say(Reset, 0, 0, made), Say(Reset, 0, 0, made)
		if uneven, _ := (mine | theirs).Uneven(made); uneven {
			t.Errorf("%d segments at all members are uneven", made)
		}
		heard := Say(Reset, 0, 0, made) | Say(Reset, 0, 0, made+1)
		if uneven, behind := heard.Uneven(made); !uneven || !behind {
			t.Errorf("%d segments beside %d: uneven %v, behind %v", made, made+1, uneven, behind)
		}
		if uneven, behind := heard.Uneven(made + 1); !uneven || behind {
			t.Errorf("%d segments beside %d: uneven %v, behind %v", made+1, made, uneven, behind)
		}
	}
}

func TestNumbersAreEqualOnlyIfAllAre(t *testing.T) {
	const width = 31
	for range 1000 {
		x, y := rand.Uint64N(1<<width), rand.Uint64N(1<<width)
		mine, theirs := Number(x, width), Number(x, width)
		if !Equal(mine|theirs|1<<(2*width), width) {
			t.Errorf("%#x is not equal to itself", x)
		}
		if x != y && Equal(Number(x, width)|Number(y, width), width) {
			t.Errorf("%#x and %#x are equal", x, y)
		}
	}
}
