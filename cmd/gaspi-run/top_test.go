package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/launcher"
)

// moved are the counts of a rank that has written so many bytes, and waited for so long.
func moved(bytes uint64, waited time.Duration) launcher.RankStats {
	return launcher.RankStats{BytesWritten: bytes, Waited: waited}
}

// twoLooks are two looks at five ranks, a second apart.
func twoLooks() (before, now launcher.JobView) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	now = launcher.JobView{Job: "j1", At: at, Ran: 12300 * time.Millisecond, Cause: "rank 1 computes", Ranks: []launcher.RankActivity{
		{Rank: 0, Host: "a", State: "in collective", Call: "Proc.Barrier of world, number 7", Place: "ring/main.go:31", Since: 800 * time.Millisecond, Beat: at, Stats: moved(5e8, 0)},
		{Rank: 1, Host: "a", State: "computing", Since: 900 * time.Millisecond, Beat: at, Stats: moved(2e9, 100*time.Millisecond)},
		{Rank: 2, Host: "b", State: "silent", Since: 6 * time.Second, Stuck: true, Beat: at.Add(-6 * time.Second)},
		{Rank: 3, Host: "b", State: "gone", Why: "killed by signal 9", Stuck: true, Beat: at},
		{Rank: 4, Host: "b", State: "left", Beat: at, Stats: moved(1, 0)},
	}}
	before = now
	before.Ranks = append([]launcher.RankActivity(nil), now.Ranks...)
	for i := range before.Ranks {
		r := &before.Ranks[i]
		r.Beat = at.Add(-time.Second)
		r.Stats = moved(r.Stats.BytesWritten/2, 0)
	}
	before.Ranks[2].Beat = now.Ranks[2].Beat
	return before, now
}

func TestFrame(t *testing.T) {
	before, now := twoLooks()
	for _, c := range []struct {
		name          string
		before        launcher.JobView
		width, height int
		want          []string
	}{
		{"all of it", before, 80, 24, []string{
			"job j1  5 ranks  12s  1.250 GB/s",
			"rank 1 computes",
			"RANK  HOST  STATE          WAITS  GB/S   FOR    CALL",
			"2     b     silent         -      -      6.0 s  -",
			"3     b     gone           -      -      0.0 s  killed by signal 9",
			"1     a     computing      10 %   1.000  0.9 s  -",
			"0     a     in collective  80 %   0.250  0.8 s  Proc.Barrier of world, number 7,",
			"4     b     left           -      -      0.0 s  -",
		}},
		{"few lines and columns", before, 30, 6, []string{
			"job j1  5 ranks  12s  1.250 GB",
			"rank 1 computes",
			"RANK  HOST  STATE   WAITS  GB/",
			"2     b     silent  -      -",
			"3     b     gone    -      -",
			"and 3 more, which waited for l",
		}},
		{"two lines", before, 80, 2, []string{"job j1  5 ranks  12s  1.250 GB/s", "rank 1 computes"}},
		{"at first", launcher.JobView{}, 40, 5, []string{
			"job j1  5 ranks  12s  0.000 GB/s",
			"rank 1 computes",
			"RANK  HOST  STATE   WAITS  GB/S  FOR",
			"2     b     silent  -      -     6.0 s",
			"and 4 more, which waited for longer",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for i := range c.want {
				c.want[i] = strings.TrimRight(c.want[i], " ")
			}
			if d := cmp.Diff(c.want, frame(c.before, now, c.width, c.height)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
	now.Ranks[0].Clock, now.Ranks[1].Clock, now.Ranks[2].Clock = 412, 409, 7
	if d := cmp.Diff([]string{
		"RANK  HOST  STATE          WAITS  GB/S   CLOCK  FOR    CALL",
		"2     b     silent         -      -      7      6.0 s  -",
		"3     b     gone           -      -      -      0.0 s  killed by signal 9",
		"1     a     computing      10 %   1.000  409    0.9 s  -",
		"0     a     in collective  80 %   0.250  412    0.8 s  Proc.Barrier of world, nu",
		"4     b     left           -      -      -      0.0 s  -",
	}, frame(before, now, 80, 24)[2:]); d != "" {
		t.Errorf("with stale reductions (-want +got):\n%s", d)
	}
	now.Cause = "a\x1bb\nc\u00e9"
	if got := frame(before, now, 80, 24)[1]; got != "a?b?c\u00e9" {
		t.Errorf("%q with characters that move the cursor", got)
	}
}

// A terminal shows what was written to it.
type terminal struct {
	lines    [][]rune
	row, col int
	saved    [2]int
	top, end int // lines that scroll
	second   bool
	rest     string // the beginning of a sequence
}

func newTerminal(width, height int) *terminal {
	t := &terminal{end: height}
	for range height {
		t.lines = append(t.lines, []rune(strings.Repeat(" ", width)))
	}
	return t
}

// write takes what a program has written, as far as it is known here; else it panics.
func (t *terminal) write(text string) {
	text, t.rest = t.rest+text, ""
	for text != "" {
		if text[0] == '\x1b' {
			n, ok := t.sequence(text)
			if !ok {
				t.rest = text
				return
			}
			text = text[n:]
			continue
		}
		c := []rune(text)[0]
		text = text[len(string(c)):]
		switch c {
		case '\r':
			t.col = 0
		case '\n':
			t.feed()
		default:
			if t.col < len(t.lines[t.row]) {
				t.lines[t.row][t.col] = c
			}
			t.col++
		}
	}
}

// feed goes to the next line.
func (t *terminal) feed() {
	if t.row != t.end-1 {
		t.row = min(t.row+1, len(t.lines)-1)
		return
	}
	first := t.lines[t.top]
	copy(t.lines[t.top:t.end], t.lines[t.top+1:t.end])
	for i := range first {
		first[i] = ' '
	}
	t.lines[t.end-1] = first
}

func (t *terminal) erase(row int) {
	for i := range t.lines[row] {
		t.lines[row][i] = ' '
	}
}

// sequence does what an escape sequence says, and returns its length, if all of it is there.
func (t *terminal) sequence(text string) (n int, ok bool) {
	if len(text) < 2 {
		return 0, false
	}
	switch text[1] {
	case '7':
		t.saved = [2]int{t.row, t.col}
		return 2, true
	case '8':
		t.row, t.col = t.saved[0], t.saved[1]
		return 2, true
	}
	end := strings.IndexFunc(text[2:], func(c rune) bool { return c >= '@' && c <= '~' })
	if end < 0 {
		return 0, false
	}
	args, final := text[2:2+end], text[2+end]
	var a, b int
	fmt.Sscanf(args, "%d;%d", &a, &b)
	switch {
	case final == 'H':
		t.row, t.col = max(a, 1)-1, max(b, 1)-1
	case final == 'K' && args == "2":
		t.erase(t.row)
	case final == 'K':
		for i := t.col; i < len(t.lines[t.row]); i++ {
			t.lines[t.row][i] = ' '
		}
	case final == 'J':
		for row := t.row + 1; row < len(t.lines); row++ {
			t.erase(row)
		}
	case final == 'r':
		t.top, t.end, t.row, t.col = 0, len(t.lines), 0, 0
		if b > 0 {
			t.top, t.end = a-1, b
		}
	case args == "?1049":
		t.second = final == 'h'
	case args == "?25":
	default:
		panic(fmt.Sprintf("sequence %q", text[:3+end]))
	}
	return 3 + end, true
}

// String is what is seen, without blanks at the ends.
func (t *terminal) String() string {
	var lines []string
	for _, line := range t.lines {
		lines = append(lines, strings.TrimRight(string(line), " "))
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}
