package main

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gaspi-go/gaspi-go/examples/program"
	"github.com/google/go-cmp/cmp"
)

// sample is a report of two runs, the second with an unknown error.
func sample() *Report {
	return &Report{
		Format: reportFormat, Ranks: 4, Factors: 16, Seed: 7, Jitter: "lognormal:20ms,1",
		Data: Data{Source: "ratings <1>.csv", Users: 100, Items: 50, Train: 900, HeldOut: 100},
		Runs: []Run{
			{Slack: 0, Iterations: 3, Seconds: 3, RMSE: 0.81, Waiting: 0.25,
				Rank0: Series{Seconds: column{1, 2, 3}, RMSE: column{1, 0.9, 0.8}, Waited: column{0.25, 0.25, 0.25}, Staleness: column{0, 0, 0}},
				Mean:  Series{Seconds: column{1, 2, 3}, RMSE: column{1, 0.9, 0.8}, Waited: column{0.25, 0.25, 0.25}, Staleness: column{0, 0, 0}}},
			{Slack: 2, Iterations: 3, Seconds: 1.5, RMSE: 0.8512345, Waiting: 0.03125, StalenessMean: 0.875, StalenessMax: 2,
				Rank0: Series{Seconds: column{0.5, 1, 1.5}, RMSE: column{math.NaN(), 0.92, 0.85}, Waited: column{0, 0.1, 0}, Staleness: column{1, 2, 0}},
				Mean:  Series{Seconds: column{0.5, 1, 1.5}, RMSE: column{math.NaN(), 0.92, 0.85}, Waited: column{0, 0.1, 0}, Staleness: column{1, 1.5, 0}}},
		},
	}
}

func TestReportJSONRoundTrip(t *testing.T) {
	want := sample()
	file := filepath.Join(t.TempDir(), "report")
	if err := program.SaveJSON(file, want); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got Report
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&got); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	sameNumber := cmp.Comparer(func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) })
	if diff := cmp.Diff(want, &got, sameNumber); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
	if !strings.Contains(string(text), `"rmse":[null,0.92,0.85]`) {
		t.Errorf("an unknown error is not null in %s", text)
	}
}

func TestTable(t *testing.T) {
	var out strings.Builder
	sample().writeTable(&out)
	const want = `slack  iterations  seconds  held-out RMSE  waiting  staleness mean   max
    0           3     3.00         0.8100    25.0%            0.00     0
    2           3     1.50         0.8512     3.1%            0.88     2
To a held-out RMSE of 0.8500, slack 0 took 3.00 s and 3 iterations, slack 2 took 1.50 s and 3 iterations (2.00x as fast as slack 0).
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}

// TestComparisonIsHonest sees that nothing is compared where nothing can be.
func TestComparisonIsHonest(t *testing.T) {
	tests := []struct {
		name   string
		change func(*Report)
	}{
		{"one run", func(r *Report) { r.Runs = r.Runs[:1] }},
		{"no known error", func(r *Report) { r.Runs[1].Mean.RMSE = column{math.NaN(), math.NaN(), math.NaN()} }},
		{"no iteration", func(r *Report) { r.Runs[1].Mean = Series{} }},
	}
	for _, tt := range tests {
		r := sample()
		tt.change(r)
		if got := r.comparison(); got != "" {
			t.Errorf("%s: %q", tt.name, got)
		}
	}
}

// TestComparisonWithTarget takes what rank 0 saw where all runs reached the
// target, and the averages where one did not.
func TestComparisonWithTarget(t *testing.T) {
	r := sample()
	r.UntilRMSE = 0.86
	r.Runs[0].Reached, r.Runs[0].Iterations, r.Runs[0].Seconds = true, 2, 2.25
	const partly = "To a held-out RMSE of 0.8500, slack 0 took 3.00 s and 3 iterations, slack 2 took 1.50 s and 3 iterations (2.00x as fast as slack 0)."
	if diff := cmp.Diff(partly, r.comparison()); diff != "" {
		t.Errorf("one run reached the target (-want +got):\n%s", diff)
	}
	r.Runs[1].Reached = true
	const want = "To a held-out RMSE of 0.8600, slack 0 took 2.25 s and 2 iterations, slack 2 took 1.50 s and 3 iterations (1.50x as fast as slack 0)."
	if diff := cmp.Diff(want, r.comparison()); diff != "" {
		t.Errorf("both runs reached the target (-want +got):\n%s", diff)
	}
}

// TestFigureOfReport draws the sample, whose names need escaping.
func TestFigureOfReport(t *testing.T) {
	var svg bytes.Buffer
	if err := sample().figure().WriteSVG(&svg); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"4 ranks, jitter lognormal:20ms,1", "slack 0", "slack 2"} {
		if !strings.Contains(svg.String(), want) {
			t.Errorf("the drawing lacks %q", want)
		}
	}
}
