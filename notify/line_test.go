package notify

import (
	"bytes"
	"sync/atomic"
	"testing"
	"time"
)

// lineOf returns a line that begins at a multiple of 4, and so many bytes behind that.
func lineOf(behind int) []byte {
	mem := make([]byte, 2*LineSize) // of a size that Go aligns to 8 bytes
	return mem[behind:]
}

// TestLine posts data of each length, and finds it in front of the value, with nothing else written, and the notification.
func TestLine(t *testing.T) {
	for _, wait := range []*WaitPolicy{{Sleep: Futex{}}, {Spin: time.Second, Sleep: Futex{}}} {
		b := newArray(1, wait)
		for n := range LinePayload + 1 {
			line, src := lineOf(0), bytes.Repeat([]byte{0xA5}, n)
			if b.PollLine(line, 7, nil) {
				t.Fatal("a line that nobody has posted has a value")
			}
			b.PostLine(line, src, 0, 7)
			if !b.PollLine(line, 7, nil) || b.PollLine(line, 8, nil) {
				t.Errorf("%d bytes: the value is not 7", n)
			}
			if v, err := b.Reset(0); err != nil || v != 7 {
				t.Errorf("%d bytes: the notification is %d (%v), want 7", n, v, err)
			}
			want := append(append(make([]byte, 0, 2*LineSize), src...), make([]byte, 2*LineSize-n)...)
			copy(want[lineValueAt:], line[lineValueAt:LineSize])
			if !bytes.Equal(line, want) {
				t.Errorf("%d bytes: the line holds %x", n, line)
			}
		}
	}
}

// TestLineNowhere: where a value could not be stored in one step, or the array is closed, there is none, and the data is.
func TestLineNowhere(t *testing.T) {
	b := newArray(1, &WaitPolicy{Sleep: Futex{}})
	for behind := 1; behind < 4; behind++ {
		line := lineOf(behind)
		b.PostLine(line, []byte{1, 2, 3}, 0, 7)
		if v, err := b.Reset(0); err != nil || v != 7 {
			t.Errorf("%d bytes behind a word: the notification is %d (%v), want 7", behind, v, err)
		}
		if b.PollLine(line, 7, nil) || !bytes.Equal(line[:3], []byte{1, 2, 3}) || !bytes.Equal(line[3:LineSize], make([]byte, LineSize-3)) {
			t.Errorf("%d bytes behind a word: the line holds %x", behind, line)
		}
	}
	line := lineOf(0)
	b.PostLine(line, nil, 0, 7)
	if b.Close(); b.PollLine(line, 7, nil) {
		t.Error("a closed array has seen a value")
	}
}

// TestLineAfterATurn: where waiters yield and do not spin, a value that comes in the turn of others is seen after it, and
// the time of the turn counts as waited; where they never yield, nobody is let run.
func TestLineAfterATurn(t *testing.T) {
	for _, c := range []struct {
		name        string
		spin, yield time.Duration
		turns       int
	}{{"yields", 0, time.Second, 1}, {"never yields", 0, 0, 0}, {"spins", time.Millisecond, time.Second, 0}} {
		t.Run(c.name, func(t *testing.T) {
			line, turns, polls := lineOf(0), 0, 0
			var b *Array
			b = newArray(1, &WaitPolicy{
				Spin: c.spin, Yield: c.yield, Sleep: Futex{}, Poll: func() bool { polls++; return false },
				YieldOnce: func() { turns++; b.PostLine(line, []byte{1}, 0, 7) },
			})
			var spent atomic.Int64
			if seen := b.PollLine(line, 7, &spent); seen != (c.turns > 0) || turns != c.turns || polls != c.turns {
				t.Errorf("seen %v after %d turns and %d polls, want %d of both", seen, turns, polls, c.turns)
			}
			if waited := spent.Load() > 0; waited != (c.turns > 0) {
				t.Errorf("%v were waited in %d turns", time.Duration(spent.Load()), c.turns)
			}
			if b.PollLine(line, 8, nil) || turns != 2*c.turns {
				t.Errorf("a value that nobody has posted was seen, after %d turns", turns)
			}
		})
	}
}
