package stdio

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/google/go-cmp/cmp"
)

// A terminal shows what a real one of that many columns would, for the few
// controls that a display uses. Lines that are too long wrap.
type terminal struct {
	columns int
	lines   []string
	current []rune
	column  int
}

func (s *terminal) Write(p []byte) (int, error) {
	for rest := string(p); rest != ""; {
		if after, ok := strings.CutPrefix(rest, "\x1b[K"); ok {
			s.current, rest = s.current[:s.column], after
			continue
		}
		r := []rune(rest)[0]
		rest = strings.TrimPrefix(rest, string(r))
		s.put(r)
	}
	return len(p), nil
}

func (s *terminal) put(r rune) {
	switch r {
	case '\n':
		s.lines = append(s.lines, string(s.current))
		s.current, s.column = nil, 0
	case '\r':
		s.column = 0
	default:
		if s.column == s.columns {
			s.put('\n')
		}
		s.current = append(s.current[:s.column], append([]rune{r}, s.current[min(s.column+1, len(s.current)):]...)...)
		s.column++
	}
}

func (s *terminal) String() string { return strings.Join(append(s.lines, string(s.current)), "\n") }

// streams returns one stream for each rank, all on one display.
func streams(w *terminal, ranks int, live bool) []*stream {
	d := &display{}
	if live {
		d.width = func() int { return w.columns }
	}
	var all []*stream
	for r := range ranks {
		all = append(all, &stream{labeller: labeller{label: []byte(label(base.Rank(r))), live: live}, display: d, w: w})
	}
	return all
}

func TestDisplay(t *testing.T) {
	type step struct {
		rank int
		text string // empty ends the stream
	}
	cases := []struct {
		name  string
		steps []step
		want  string
	}{
		{"a prompt shows at once", []step{{0, "hello\nname? "}}, "[0] hello\n[0] name? "},
		{"progress stays below other lines", []step{{0, "\r10%"}, {1, "one\n"}, {0, "\r20%"}, {1, "two\n"}}, "[1] one\n[1] two\n[0] 20%"},
		{"finished progress becomes a line", []step{{0, "\r10%"}, {0, "\r100%\n"}, {1, "x\n"}}, "[0] 100%\n[1] x\n"},
		{"the one that changed last shows", []step{{0, "aaaaaaaa"}, {1, "bb"}, {0, "a\n"}}, "[0] aaaaaaaaa\n[1] bb"},
		{"too long to erase is cut", []step{{0, strings.Repeat("x", 50)}, {1, "y\n"}, {0, "z\n"}}, "[1] y\n[0] xxxxxxxxxxxxxxxx\nxxxxxxxxxxxxxxxxxxxx\nxxxxxxxxxxxxxxz\n"},
		{"end of a stream", []step{{0, "no newline"}, {0, ""}, {1, "x\n"}}, "[0] no newline\n[1] x\n"},
		{"wide text", []step{{0, "äöü\r"}, {1, "x\n"}}, "[1] x\n[0] äöü"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			screen := &terminal{columns: 20}
			all := streams(screen, 2, true)
			for _, s := range c.steps {
				if s.text == "" {
					all[s.rank].End()
				} else {
					all[s.rank].Feed([]byte(s.text))
				}
			}
			if d := cmp.Diff(c.want, screen.String()); d != "" {
				t.Errorf("the terminal shows (-want +got):\n%s", d)
			}
		})
	}
}

func TestDisplayWithoutTerminalHoldsLinesBack(t *testing.T) {
	screen := &terminal{columns: 1000}
	all := streams(screen, 2, false)
	all[0].Feed([]byte("begun"))
	all[1].Feed([]byte("x\n"))
	if got := screen.String(); got != "[1] x\n" {
		t.Errorf("%q before the end of the line", got)
	}
	all[0].End()
	if got := screen.String(); got != "[1] x\n[0] begun\n" {
		t.Errorf("%q after the end of the stream", got)
	}
}

func TestInterjectionLeavesNoTrace(t *testing.T) {
	screen := &terminal{columns: 20}
	all := streams(screen, 1, true)
	all[0].Feed([]byte("\r10%"))
	all[0].display.interject(screen, func() { screen.Write([]byte("notice\n")) })
	all[0].Feed([]byte("\r20%"))
	if got := screen.String(); got != "notice\n[0] 20%" {
		t.Errorf("%q", got)
	}
}

func TestFit(t *testing.T) {
	cases := []struct {
		name, in string
		columns  int
		want     string
	}{
		{"fits", "abc", 3, "abc"},
		{"cut", "abcd", 3, "abc"},
		{"runes", "äöüß", 3, "äöü"},
		{"colours take no room and end", "\x1b[31mabcd\x1b[1m", 3, "\x1b[31mabc\x1b[1m\x1b[0m"},
		{"unfinished control", "ab\x1b[3", 9, "ab\x1b[3\x1b[0m"},
		{"tabs and bells", "a\tb\a\b", 9, "a b"},
		{"unknown width", strings.Repeat("x", 100), 0, strings.Repeat("x", 79)},
	}
	for _, c := range cases {
		if d := cmp.Diff(c.want, string(fit([]byte(c.in), c.columns))); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
}

func TestDeadStreamStaysQuiet(t *testing.T) {
	taken, w := io.Pipe()
	taken.CloseWithError(bytes.ErrTooLarge)
	var told int
	s := &stream{labeller: labeller{}, display: &display{}, w: w, broken: func(error) { told++ }}
	s.Feed([]byte("one\n"))
	s.Feed([]byte("two\n"))
	if told != 1 || !s.dead {
		t.Errorf("told %d times, dead %v; want once", told, s.dead)
	}
}

// TestPipeIsNoTerminal: a pipe is as wide as it likes.
func TestPipeIsNoTerminal(t *testing.T) {
	t.Setenv("TERM", "xterm")
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	if fd, width := terminalOf(w), terminalWidth(int(w.Fd())); fd != -1 || width != 0 {
		t.Errorf("a pipe is terminal %d of %d columns", fd, width)
	}
}
