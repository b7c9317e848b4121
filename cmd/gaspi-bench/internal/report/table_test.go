package report

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// sampleRows are a pair with a bandwidth and a pair with a rate.
func sampleRows() [][]Row {
	none, two := uint64(0), uint64(2)
	put := Subject{Op: "put", Bytes: 1 << 20, Moves: true}
	rate := Subject{Op: "notify-rate", Rate: true}
	rows := [][]Row{
		{NewRow(put, ImplGaspi, Summary{25.31234567, 26.25, 1234.5, 30}, 480), NewRow(put, ImplLimit, Summary{25, 25, 40, 26}, 480)},
		{NewRow(rate, ImplGaspi, Summary{0.0249, 0.04, 0.06, 0.05}, 1000), NewRow(rate, ImplLimit, Summary{0.008, 0.025, 0.03, 0.02}, 1000)},
	}
	for i, allocs := range []*uint64{&none, &two} {
		rows[i][0].AllocsPerOp = allocs
		for j := range rows[i] {
			rows[i][j].Transport, rows[i][j].N = "shm", 2
		}
		rows[i][0].Used(35 * time.Millisecond)
	}
	return rows
}

func TestTable(t *testing.T) {
	got := tableHead(false) + "\n"
	for _, rows := range sampleRows() {
		got += strings.Join(tableLines(rows, false), "\n") + "\n"
	}
	want := `op                 bytes  impl        min us      p50 us      p99 us      GB/s  cpu s/GB       M/s allocs/op   ratio
put                 1MiB  gaspi        25.31       26.25        1234     39.95      0.07                   0   1.05x
put                 1MiB  limit        25.00       25.00       40.00     41.94
notify-rate            -  gaspi       0.0249      0.0400      0.0600                         25.00         2   1.60x
notify-rate            -  limit       0.0080      0.0250      0.0300                         40.00
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}

func TestJSONLines(t *testing.T) {
	var got bytes.Buffer
	for _, rows := range sampleRows() {
		for _, r := range rows {
			if err := encode(&got, "rows", r); err != nil {
				t.Fatal(err)
			}
		}
	}
	want := `{"op":"put","impl":"gaspi","transport":"shm","n":2,"bytes":1048576,"iters":480,"min_us":25.3123,"p50_us":26.25,"p99_us":1234.5,"mean_us":30,"gb_per_s":39.9458,"cpu_s_per_gb":0.06954,"allocs_per_op":0}
{"op":"put","impl":"limit","transport":"shm","n":2,"bytes":1048576,"iters":480,"min_us":25,"p50_us":25,"p99_us":40,"mean_us":26,"gb_per_s":41.943}
{"op":"notify-rate","impl":"gaspi","transport":"shm","n":2,"bytes":0,"iters":1000,"min_us":0.0249,"p50_us":0.04,"p99_us":0.06,"mean_us":0.05,"per_s":25000000,"allocs_per_op":2}
{"op":"notify-rate","impl":"limit","transport":"shm","n":2,"bytes":0,"iters":1000,"min_us":0.008,"p50_us":0.025,"p99_us":0.03,"mean_us":0.02,"per_s":40000000}
`
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}

var errFull = errors.New("disk full")

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

func TestRowsThatCannotBeWritten(t *testing.T) {
	if err := encode(fullDisk{}, "rows", sampleRows()[0][0]); !errors.Is(err, errFull) {
		t.Errorf("got %v, want %v", err, errFull)
	}
}

// Goal: finding out whether a file can be written does not destroy it.
func TestTryOpenKeepsTheFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "rows.json")
	if err := os.WriteFile(name, []byte("old"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := TryOpen("--json", name); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(name); err != nil || string(got) != "old" {
		t.Errorf("the file now holds %q, %v", got, err)
	}
}

// TestTryOpenLeavesNoFile: a run that is refused, or measures nothing, leaves no empty file.
func TestTryOpenLeavesNoFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "rows.json")
	forms := Forms{JSON: name, Plot: filepath.Join(name, "plot.svg")}
	if err := forms.Try(); err == nil || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v, want one sentence about --plot", err)
	}
	if _, err := os.Lstat(name); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file is there: %v", err)
	}
}
