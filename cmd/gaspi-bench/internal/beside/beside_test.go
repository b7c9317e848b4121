package beside

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/report"
)

// threeRounds is a comparison in which the median of ratios is not the ratio of medians:
// of 8 bytes, a round of ours takes 2, 4 and 8 us, one of the peer's messages 10, 4 and 16.
func threeRounds(t *testing.T) *rig {
	return newRig(t, 3, play{
		gaspi:   []string{ours("2", "10"), ours("4", "20"), ours("8", "40")},
		limit:   []string{ours("1", "5")},
		openmpi: []string{theirs(10000, 20000), theirs(4000, 40000), theirs(16000, 80000)},
	})
}

// Goal: every side runs once in each round, ours first; figures are medians over rounds, and
// a ratio is the median of the ratios of rounds.
func TestTurnsAndMedians(t *testing.T) {
	r := threeRounds(t)
	text, rows, err := r.measure(t.Context(), t)
	if err != nil {
		t.Fatal(err)
	}
	round := []string{"gaspi", "limit", "openmpi"}
	turns := make(map[string]int)
	for i, who := range r.fake.Lines(t, "turns") {
		if turns[who]++; who != round[i%3] {
			t.Errorf("turn %d is that of %s, want %s", i, who, round[i%3])
		}
	}
	if d := cmp.Diff(map[string]int{"gaspi": 3, "limit": 3, "openmpi": 3}, turns); d != "" {
		t.Errorf("turns (-want +got):\n%s", d)
	}
	want := []string{
		"latency 8 gaspi 4 of 0:2 1:4 2:8", "latency 8 limit 1 of 0:1 1:1 2:1",
		"latency 8 openmpi send-recv 10 of 0:10 1:4 2:16", "latency 8 openmpi put 20 of 0:20 1:8 2:32",
		"latency 1024 gaspi 20 of 0:10 1:20 2:40", "latency 1024 limit 5 of 0:5 1:5 2:5",
		"latency 1024 openmpi send-recv 40 of 0:20 1:40 2:80", "latency 1024 openmpi put 80 of 0:40 1:80 2:160",
		"delivery 8 gaspi 4 of 0:2 1:4 2:8", "delivery 8 limit 1 of 0:1 1:1 2:1",
		"delivery 8 openmpi send-recv 20 of 0:20 1:8 2:32", "delivery 8 openmpi put 20 of 0:20 1:8 2:32",
		"delivery 1024 gaspi 20 of 0:10 1:20 2:40", "delivery 1024 limit 5 of 0:5 1:5 2:5",
		"delivery 1024 openmpi send-recv 80 of 0:40 1:80 2:160", "delivery 1024 openmpi put 80 of 0:40 1:80 2:160",
		"latency 8: 2 (1 to 5)", "latency 1024: 2 (2 to 2)", "delivery 8: 4 (2 to 10)", "delivery 1024: 4 (4 to 4)",
		"latency of openmpi: 2", "latency of better: 2", "delivery of openmpi: 4", "delivery of better: 4",
	}
	if d := cmp.Diff(want, words(rows)); d != "" {
		t.Errorf("rows (-want +got):\n%s", d)
	}
	if want := "headline\nlatency; medians of 3 rounds, in each of which every side ran once\n"; !strings.HasPrefix(text, want) {
		t.Errorf("printed\n%s\nwant it to begin with\n%s", text, want)
	}
}

// Goal: a side that was asked for alone has the only turns of ours.
func TestOneSide(t *testing.T) {
	r := threeRounds(t)
	r.sides.Rules.Side = report.ImplGaspi
	if _, _, err := r.measure(t.Context(), t); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"gaspi", "gaspi", "gaspi"}, r.turns); d != "" {
		t.Errorf("turns of ours (-want +got):\n%s", d)
	}
}

// Goal: what was measured is shown when a side fails in a later round, with the rounds that
// each row has, and the run fails.
func TestFailsMidway(t *testing.T) {
	small := func(us string) string { return "row latency 8 " + us }
	for _, c := range []struct {
		name string
		play play
		want string   // the error
		text string   // of the table
		rows []string // of latency of 8 bytes, and its comparison
	}{
		{"our ranks, in the second round, behind a row",
			play{[]string{ours("2", "10"), small("4") + "; exit 3"}, []string{ours("1", "5")}, []string{theirs(10000, 20000)}},
			"the ranks of the runtime ended with exit code 3", "ended in round 2 of 3",
			[]string{"latency 8 gaspi 3 of 0:2 1:4", "latency 8 limit 1 of 0:1", "latency 8 openmpi send-recv 10 of 0:10", "latency 8: 5 (5 to 5)"}},
		{"the limit, in the first round",
			play{[]string{ours("2", "10")}, []string{"exit 3"}, []string{theirs(10000, 20000)}},
			"the ranks of the runtime ended with exit code 3", "ended in round 1 of 3",
			[]string{"latency 8 gaspi 2 of 0:2", "latency 8: 0 (0 to 0)"}},
		{"our ranks, with half a row",
			play{[]string{ours("2", "10"), `printf '{"op":' >"$file"`}, []string{ours("1", "5")}, []string{theirs(10000, 20000)}},
			"reading rows: unexpected end of JSON input", "ended in round 2 of 3",
			[]string{"latency 8 gaspi 2 of 0:2", "latency 8 limit 1 of 0:1", "latency 8 openmpi send-recv 10 of 0:10", "latency 8: 5 (5 to 5)"}},
		{"the peer says nonsense in the third round",
			play{[]string{ours("2", "10")}, []string{ours("1", "5")}, []string{theirs(10000, 20000), theirs(6000, 20000), "begin; echo times 0 x"}},
			`Open MPI: "x" in a line of the benchmark is no number`, "ended in round 3 of 3",
			[]string{"latency 8 gaspi 2 of 0:2 1:2 2:2", "latency 8 limit 1 of 0:1 1:1 2:1", "latency 8 openmpi send-recv 8 of 0:10 1:6", "latency 8: 4 (3 to 5)"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, 3, c.play)
			text, rows, err := r.measure(t.Context(), t)
			if err == nil || err.Error() != c.want {
				t.Errorf("error %v, want %q", err, c.want)
			}
			if !strings.Contains(text, "latency; not complete: "+c.text+"; medians of the rounds that a row has\n") {
				t.Errorf("printed, without %q:\n%s", c.text, text)
			}
			if d := cmp.Diff(c.rows, ofSmall(words(rows))); d != "" {
				t.Errorf("rows (-want +got):\n%s", d)
			}
		})
	}
}

// ofSmall keeps what is about latency of 8 bytes but for the peer's slower way.
func ofSmall(all []string) []string {
	var kept []string
	for _, word := range all {
		if (strings.HasPrefix(word, "latency 8 ") || strings.HasPrefix(word, "latency 8:")) && !strings.Contains(word, " put ") {
			kept = append(kept, word)
		}
	}
	return kept
}

// Goal: a point at which the peer fails once is left out from then on, there alone.
func TestAPointFails(t *testing.T) {
	fails := strings.Replace(theirs(6000, 30000), "case $point in", `case $point in latency:1024:put) echo "mpibench: rank 1: it is wrong" >&2; exit 1;;`, 1)
	r := newRig(t, 3, play{[]string{ours("2", "10")}, []string{ours("1", "5")}, []string{theirs(6000, 30000), fails, theirs(6000, 30000)}})
	_, rows, err := r.measure(t.Context(), t)
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Join(words(rows), "\n")
	for _, want := range []string{
		"latency 1024 openmpi put failed (exit status 1: rank 1: it is wrong)",
		"latency 1024 openmpi send-recv 30 of 0:30 1:30 2:30", "delivery 1024 openmpi put 60 of 0:60 1:60 2:60", "latency 1024: 3 (3 to 3)",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("there is no row %q:\n%s", want, all)
		}
	}
	const point = "latency:1024:put "
	launched := r.fake.Lines(t, "launched") // the second round needs a second run for the points behind the one that fails
	if len(launched) != 4 || !strings.Contains(launched[1], point) || strings.Contains(launched[2], point) || strings.Contains(launched[3], point) {
		t.Errorf("launched for %q, want %q in the first two alone", launched, point)
	}
}

// Goal: nothing is started where a peer is missing, and the output file is left alone.
func TestAPeerIsMissing(t *testing.T) {
	r := threeRounds(t)
	r.sides.Peers.Names = []string{"openmpi", "mpich"}
	r.sides.Forms = report.Forms{}
	err := Measure(t.Context(), r.sides, nil, nil)
	if err == nil || !strings.Contains(err.Error(), "MPICH is not installed") {
		t.Errorf("error %v", err)
	}
	if turns := r.fake.Lines(t, "turns"); turns != nil || r.turns != nil {
		t.Errorf("turns %v and %v, want none", turns, r.turns)
	}
}

// Goal: an interrupt ends the run with what was measured until then.
func TestInterrupted(t *testing.T) {
	const hangs = "exec /bin/sleep 60"
	for _, c := range []struct {
		name  string
		play  play
		turns int // of ours before the interrupt; -1 for before everything
		want  string
		rows  []string
	}{
		{"before the first round", play{[]string{hangs}, []string{hangs}, []string{hangs}}, -1,
			"interrupted before the first round; nothing was measured", nil},
		{"before anything was measured", play{[]string{hangs}, []string{hangs}, []string{hangs}}, 0,
			"interrupted in the first round; nothing was measured", nil},
		{"in the second round", play{[]string{ours("2", "10"), ours("4", "20")}, []string{ours("1", "5"), hangs}, []string{theirs(10000, 20000)}}, 3,
			"interrupted in round 2 of 3; shown is what was measured until then", []string{
				"latency 8 gaspi 3 of 0:2 1:4", "latency 8 limit 1 of 0:1", "latency 8 openmpi send-recv 10 of 0:10", "latency 8: 5 (5 to 5)",
			}},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, interrupt := context.WithCancel(t.Context())
			r := newRig(t, 3, c.play)
			r.before = func(turns int) {
				if turns == c.turns {
					interrupt()
				}
			}
			r.before(-1)
			text, rows, err := r.measure(ctx, t)
			if err == nil || err.Error() != c.want {
				t.Errorf("error %v, want %q", err, c.want)
			}
			if d := cmp.Diff(c.rows, ofSmall(words(rows))); d != "" {
				t.Errorf("rows (-want +got):\n%s", d)
			}
			if (text == "") != (c.rows == nil) {
				t.Errorf("printed %q", text)
			}
		})
	}
}
