package notify

import (
	"bytes"
	"testing"
	"time"
)

// lineOf returns a line that begins at a multiple of 4, and so many bytes behind that.
func lineOf(behind int) []byte {
	mem := make([]byte, 2*LineSize) // of a size that Go aligns to 8 bytes
	return mem[behind:]
}

// TestLine posts data of each length, and finds it in front of the value, with nothing else written.
func TestLine(t *testing.T) {
	for _, wait := range []*WaitPolicy{{Sleep: Futex{}}, {Spin: time.Second, Sleep: Futex{}}} {
		b := newArray(1, wait)
		for n := range LinePayload + 1 {
			line, src := lineOf(0), bytes.Repeat([]byte{0xA5}, n)
			if b.PollLine(line, 7) {
				t.Fatal("a line that nobody has posted has a value")
			}
			PostLine(line, src, 7)
			if !b.PollLine(line, 7) || b.PollLine(line, 8) {
				t.Errorf("%d bytes: the value is not 7", n)
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
		PostLine(line, []byte{1, 2, 3}, 7)
		if b.PollLine(line, 7) || !bytes.Equal(line[:3], []byte{1, 2, 3}) || !bytes.Equal(line[3:LineSize], make([]byte, LineSize-3)) {
			t.Errorf("%d bytes behind a word: the line holds %x", behind, line)
		}
	}
	line := lineOf(0)
	PostLine(line, nil, 7)
	if b.Close(); b.PollLine(line, 7) {
		t.Error("a closed array has seen a value")
	}
}
