package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Goal: the table of rounds that were recorded. Of latency, the medians of rounds 2, 4 and 8
// by 1, 4 and 2 are 4 and 2, their ratios 2, 1 and 4; one round of alltoall lacks the new
// commit, and delivery lacks it in all.
func TestTableOfRecordedRounds(t *testing.T) {
	data, err := os.ReadFile("testdata/rounds.json")
	if err != nil {
		t.Fatal(err)
	}
	var records []sideRow
	for text := range strings.Lines(string(data)) {
		var r sideRow
		dec := json.NewDecoder(strings.NewReader(text))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&r); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		records = append(records, r)
	}
	want, err := os.ReadFile("testdata/table.txt")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), strings.Join(tableLines(compare(records)), "\n")+"\n"); d != "" {
		t.Errorf("table (-want +got):\n%s", d)
	}
}

func TestVerdict(t *testing.T) {
	for _, c := range []struct {
		name             string
		ratio, low, high float64
		want             string
	}{
		{"faster", 1.04, 1.01, 1.2, "faster"},
		{"faster, but for a round", 1.04, 0.99, 1.2, ""},
		{"faster by too little", 1.03, 1.02, 1.2, ""},
		{"slower", 0.96, 0.9, 0.99, "slower"},
		{"slower, but for a round", 0.96, 0.9, 1.01, ""},
		{"slower by too little", 0.98, 0.9, 0.99, ""},
		{"alike", 1, 1, 1, ""},
	} {
		made := comparison{ratio: c.ratio, low: c.low, high: c.high, rounds: 3}
		if got := made.verdict(); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		if made.rounds = 2; made.verdict() != "" {
			t.Errorf("%s: %q after two rounds", c.name, made.verdict())
		}
	}
}
