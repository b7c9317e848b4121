package beside

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/measure"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/peer/peertest"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/report"
	"github.com/gaspi-go/gaspi-go/launcher"
)

// A rig is a comparison whose ranks and peer are shell scripts that tell of their turns.
type rig struct {
	fake  peertest.Fake
	sides Sides
	turns []string // of our ranks: the side of each start
	// before, if not nil, is called with the number of turns of ours before each.
	before func(turns int)
}

// A play is what a side does in each round, the first one first: p50 in microseconds for
// sizes 8 and 1024, or a line of shell that stands for it. The last is played again.
type play struct{ gaspi, limit, openmpi []string }

// newRig makes a comparison of a latency of 8 and 1024 bytes in so many rounds. A latency of
// a peer has two ways, of which put takes twice the time of messages.
func newRig(t *testing.T, rounds int, p play) *rig {
	r := &rig{fake: peertest.New(t, roundsOf("openmpi", p.openmpi))}
	for name, lines := range map[string][]string{report.ImplGaspi: p.gaspi, report.ImplLimit: p.limit} {
		r.fake.Write(t, name, `for word; do case $word in --json=*) file=${word#--json=};; esac; done
row() { printf '{"op":"%s","impl":"`+name+`","transport":"shm","n":2,"bytes":%s,"iters":10,"min_us":%s,"p50_us":%s,"p99_us":%s,"mean_us":%s}\n' "$1" "$2" "$3" "$3" "$3" "$3" >>"$file"; }
[ "$GASPI_RANK" = 0 ] || exit 0
`+roundsOf(name, lines))
	}
	r.sides = Sides{
		Op: "latency", Ranks: 2, Sizes: []uint64{8, 1024}, Transport: "shm", Bind: "none",
		Rules: measure.Rules{Time: time.Millisecond}, Args: []string{"latency"},
		Forms:    report.Forms{JSON: filepath.Join(r.fake.Dir, "rows.json")},
		Peers:    Peers{Names: []string{"openmpi"}, Repetitions: rounds, Limit: time.Minute},
		Headline: func(cores int, bound bool) string { return "headline" },
		Start: func(forms report.Forms, args []string, stdout, stderr *os.File) (launcher.Config, error) {
			side := strings.TrimPrefix(args[len(args)-1], "--side=")
			if r.before != nil {
				r.before(len(r.turns))
			}
			r.turns = append(r.turns, side)
			return launcher.Config{
				Program: filepath.Join(r.fake.Dir, side), Args: args, Ranks: 2, Output: launcher.OutputRaw, Stdout: stdout, Stderr: stderr,
			}, nil
		},
	}
	return r
}

// roundsOf is a script that does the line of its round.
func roundsOf(name string, lines []string) string {
	script := `echo ` + name + ` >>"${0%/*}/turns"
round=0; while read -r who; do [ "$who" = ` + name + ` ] && round=$((round+1)); done <"${0%/*}/turns"
case $round in
`
	for i, line := range lines {
		pattern := fmt.Sprint(i + 1)
		if i == len(lines)-1 {
			pattern = "*"
		}
		script += pattern + ") " + line + ";;\n"
	}
	return script + "esac"
}

// ours is a round of our ranks: p50 of 8 and of 1024 bytes, in microseconds.
func ours(small, large string) string {
	return "row latency 8 " + small + "; row latency 1024 " + large + "; row delivery 8 " + small + "; row delivery 1024 " + large
}

// theirs is a round of the peer: p50 of messages, in nanoseconds. Other ways and delivery
// take twice as long.
func theirs(small, large int) string {
	return fmt.Sprintf(`for point in $points; do begin; case $point in latency:8:send-recv) end "1 %d";; latency:1024:send-recv) end "1 %d";; *:8:*) end "1 %d";; *) end "1 %d";; esac; done; echo done`,
		small, large, 2*small, 2*large)
}

// measure measures, and returns the lines that it printed and the rows that it wrote.
func (r *rig) measure(ctx context.Context, t *testing.T) (text string, rows []line, err error) {
	t.Helper()
	open := func(name string) *os.File {
		f, err := os.Create(filepath.Join(r.fake.Dir, name))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	stdout, stderr := open("stdout"), open("stderr")
	err = Measure(ctx, r.sides, stdout, stderr)
	printed, unreadable := os.ReadFile(stdout.Name())
	if unreadable != nil {
		t.Fatal(unreadable)
	}
	return string(printed), readLines(t, r.sides.Forms.JSON), err
}

// A line is one of JSON: a row, a comparison or a mean.
type line struct {
	report.Row
	Comparison *report.Comparison `json:"comparison"`
	Geomean    *report.Mean       `json:"geomean"`
}

// readLines reads the file of rows. There is none if nothing was begun.
func readLines(t *testing.T, name string) []line {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // nothing was measured
		t.Fatal(err)
	}
	var all []line
	for text := range strings.Lines(string(data)) {
		var l line
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		all = append(all, l)
	}
	return all
}

// words are the rows as words, with p50 of each round; comparisons with their ratio.
func words(rows []line) []string {
	var all []string
	for _, l := range rows {
		switch {
		case l.Comparison != nil:
			c := l.Comparison
			all = append(all, fmt.Sprintf("%s %d: %g (%g to %g)", c.Op, c.Bytes, c.Ratio, c.RatioLow, c.RatioHigh))
		case l.Geomean != nil:
			all = append(all, fmt.Sprintf("%s of %s: %g", l.Geomean.Op, l.Geomean.Of, l.Geomean.Ratio))
		case l.Note != "":
			all = append(all, strings.Join(append(named(l.Row), l.Note), " "))
		default:
			word := strings.Join(append(named(l.Row), fmt.Sprint(l.P50US)), " ") + " of"
			for _, x := range l.Rounds {
				word += fmt.Sprintf(" %d:%g", x.Round, x.P50US)
			}
			all = append(all, word)
		}
	}
	return all
}

func named(r report.Row) []string {
	all := []string{r.Op, fmt.Sprint(r.Bytes), r.Impl}
	if r.Way != "" {
		all = append(all, r.Way)
	}
	return all
}
