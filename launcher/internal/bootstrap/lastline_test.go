package bootstrap

import (
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// Goal: the last words of an ssh are kept, and can be shown on a terminal, whatever a host says.
// Method: lines by hand, cut at each byte; then each byte within a line.
func TestLastLineIsLegible(t *testing.T) {
	for said, want := range map[string][]string{
		"":                            nil,
		"\n \n\r\n":                   nil,
		"one\r\ntwo\n":                {"one", "two"},
		"one\n\nunfinished":           {"one", "unfinished"},
		"\x1b[31mred\x1b[0m \xff\x00": {"?[31mred?[0m ??"},
		"real\rfake\r\n":              {"real?fake"},
		"ü\tä\n":                      {"ü\tä"},
		"\x00\n":                      {"?"},
		strings.Repeat("x", 9000):     {strings.Repeat("x", maxLastLine)},
	} {
		for cut := range min(len(said)+1, 40) {
			var told []string
			l := lastLine{tell: func(line string) { told = append(told, line) }}
			for _, part := range []string{said[:cut], said[cut:]} {
				if n, err := l.Write([]byte(part)); n != len(part) || err != nil {
					t.Errorf("%q: wrote %d, %v", part, n, err)
				}
			}
			last := l.String()
			if d := cmp.Diff(want, told); d != "" || len(want) > 0 && last != want[len(want)-1] {
				t.Errorf("%.80q cut at %d: last %.80q (-want +got):\n%s", said, cut, last, d)
			}
		}
	}
	for b := range 256 {
		l := lastLine{tell: func(string) {}}
		fmt.Fprintf(&l, "a%sz\n", []byte{byte(b)})
		if text := l.String(); !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) && r != '\t' }) {
			t.Errorf("byte %#x: %q", b, text)
		}
	}
}
