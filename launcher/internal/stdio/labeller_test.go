package stdio

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// labelAll runs a whole text through a labeller, cut into pieces of a size.
func labelAll(text string, live bool, cut int) string {
	l := labeller{label: []byte("[3] "), live: live}
	var out []byte
	for rest := []byte(text); len(rest) > 0; {
		n := min(cut, len(rest))
		out = l.feed(out, rest[:n])
		rest = rest[n:]
	}
	return string(l.flush(out))
}

func TestLabeller(t *testing.T) {
	long := strings.Repeat("x", maxPiece)
	cases := []struct {
		name, in   string
		want, live string // live is what a terminal gets; empty means the same
	}{
		{"nothing", "", "", ""},
		{"a line", "one\n", "[3] one\n", ""},
		{"several", "one\ntwo\n", "[3] one\n[3] two\n", ""},
		{"empty lines", "\n\n", "[3] \n[3] \n", ""},
		{"no newline at the end", "one\ntwo", "[3] one\n[3] two\n", ""},
		{"zero bytes", "a\x00b\n", "[3] a\x00b\n", ""},
		{"windows lines", "one\r\ntwo\r\n", "[3] one\r\n[3] two\r\n", "[3] one\n[3] two\n"},
		{"progress", "\r10%\r20%\rdone\n", "[3] \r10%\r20%\rdone\n", "[3] done\n"},
		{"progress that returns last", "10%\r20%\r", "[3] 10%\r20%\r\n", "[3] 20%\n"},
		{"as long as may be", long + "\n", "[3] " + long + "\n", ""},
		{"longer", long + "yz\nnext\n", "[3] " + long + "\n[3] yz\n[3] next\n", ""},
		{"much longer", long + long + long, strings.Repeat("[3] "+long+"\n", 3), ""},
	}
	for _, c := range cases {
		for _, cut := range []int{1, 2, 3, 7, 4096, 10 * maxPiece} {
			if cut < 4096 && len(c.in) > maxPiece {
				continue // a byte at a time takes long and shows nothing new
			}
			if d := cmp.Diff(c.want, labelAll(c.in, false, cut)); d != "" {
				t.Errorf("%s, cut at %d (-want +got):\n%s", c.name, cut, d)
			}
			live := c.live
			if live == "" {
				live = c.want
			}
			if d := cmp.Diff(live, labelAll(c.in, true, cut)); d != "" {
				t.Errorf("%s on a terminal, cut at %d (-want +got):\n%s", c.name, cut, d)
			}
		}
	}
}

// TestLabellerLooksAtEachByteOnce has a stream of the longest lines come a byte at a time, also
// of carriage returns alone: one look at the whole line for each byte would take minutes.
func TestLabellerLooksAtEachByteOnce(t *testing.T) {
	for _, piece := range []string{"x", "\r", "x\r", "\rx", "\r\rx"} {
		text := strings.Repeat(piece, maxPiece/len(piece))
		for _, live := range []bool{false, true} {
			if whole, cut := labelAll(text, live, len(text)), labelAll(text, live, 1); whole != cut {
				t.Errorf("%q again and again, on a terminal %t: %d bytes in pieces of one, %d as a whole", piece, live, len(cut), len(whole))
			}
		}
	}
}

func TestLabellerForgetsOldProgress(t *testing.T) {
	l := labeller{live: true}
	for range 1000 {
		l.feed(nil, []byte(strings.Repeat("x", 10_000)+"\r"))
	}
	if len(l.pending) > 20_002 {
		t.Errorf("%d bytes held back", len(l.pending))
	}
}

// FuzzLabeller checks that lines do not depend on how a stream is cut, and that
// without the labels they are the stream.
func FuzzLabeller(f *testing.F) {
	f.Add([]byte("one\ntwo\r\n\rthree"), uint8(3))
	f.Add([]byte("\n\n\n"), uint8(1))
	f.Fuzz(func(t *testing.T, text []byte, cut uint8) {
		step := int(cut)%16 + 1
		whole := labelAll(string(text), false, len(text)+1)
		if d := cmp.Diff(whole, labelAll(string(text), false, step)); d != "" {
			t.Errorf("cut at %d (-want +got):\n%s", step, d)
		}
		if d := cmp.Diff(labelAll(string(text), true, len(text)+1), labelAll(string(text), true, step)); d != "" {
			t.Errorf("on a terminal, cut at %d (-want +got):\n%s", step, d)
		}
		var plain []byte
		for line := range strings.Lines(whole) {
			rest, ok := strings.CutPrefix(line, "[3] ")
			if !ok {
				t.Errorf("line without a label: %q", line)
			}
			plain = append(plain, rest...)
		}
		if want := bytes.TrimSuffix(text, []byte("\n")); !bytes.Equal(bytes.TrimSuffix(plain, []byte("\n")), want) {
			t.Errorf("%q became %q", text, plain)
		}
	})
}
