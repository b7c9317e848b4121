package figure

import (
	"context"
	"math"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

// oneRow is a gaspi-bench that writes a row of 1 us for each of two lengths.
const oneRow = `printf '{"impl":"gaspi","bytes":8,"p50_us":1}\n{"impl":"gaspi","bytes":16,"p50_us":1}\n' > "$file"`

// interruptedAt is a lab that is interrupted when it begins to measure for the n-th time.
func interruptedAt(t *testing.T, n int) (context.Context, *Lab) {
	ctx, interrupt := context.WithCancel(t.Context())
	lab := &Lab{Bench: fakeBench(t, oneRow), Ways: Ways(), Budget: time.Hour}
	began := 0
	lab.Bench.Doing = func(string) {
		if began++; began == n {
			interrupt()
		}
	}
	return ctx, lab
}

// A cutting is what is left of a figure of two lines and of one of two runs of objects.
type cutting struct {
	Parts int
	Cut   string
	Times int // points that have one
}

// Goal: what was measured before an interrupt is a part of the figure, which says that some is
// missing; a verdict that needs what is missing is unknown.
func TestInterrupted(t *testing.T) {
	const why = "it was interrupted"
	for _, c := range []struct {
		name           string
		at             int
		sweep, objects cutting
	}{
		{"before anything is measured", 1, cutting{}, cutting{}},
		{"before the second line or run", 2, cutting{1, why + "; missing, in whole or in part: b of 2 ranks", 2},
			cutting{1, why + "; missing, in whole or in part: object-gather of 3 ranks", 1}},
		{"in the second round", 3, cutting{1, why + "; each time is of 1 or 2 rounds", 4}, cutting{1, why + "; each time is of 1 or 2 rounds", 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := measured()
			s.Lines = append(s.Lines, whole("b", "ring"))
			f := &Figure{Name: "x", Sweep: s, Claims: []Claim{{Text: "c", Number: faster("a", "b", 2), Paper: exactly(1, "p")}}}
			if d := cmp.Diff(c.sweep, cutOf(t, c.at, f)); d != "" {
				t.Errorf("a sweep (-want +got):\n%s", d)
			}
			o := hopliteFigure(Figure{Name: "y", Ways: []Setting{Raw}}, func(*Lab, Setting) *objectFigure {
				return &objectFigure{runs: []objectRun{{op: "gather", ranks: []int{2, 3}, bytes: []int{8}}}}
			})
			if d := cmp.Diff(c.objects, cutOf(t, c.at, &o)); d != "" {
				t.Errorf("objects (-want +got):\n%s", d)
			}
		})
	}
}

// cutOf runs a figure that is interrupted.
func cutOf(t *testing.T, at int, f *Figure) cutting {
	t.Helper()
	ctx, lab := interruptedAt(t, at)
	r, err := lab.Run(ctx, f)
	if (err != nil) != (ctx.Err() != nil) || r == nil {
		t.Fatalf("%v, %v", r, err)
	}
	got := cutting{Parts: len(r.Parts)}
	if r.Made() != (got.Parts > 0) {
		t.Errorf("made: %v, with %d parts", r.Made(), got.Parts)
	}
	if got.Parts == 0 {
		return got
	}
	p := r.Parts[0]
	got.Cut = p.Cut
	for _, row := range p.Tables[0].Rows {
		for _, cell := range row[2:] {
			if cell != "-" {
				got.Times++
			}
		}
	}
	for _, v := range p.Verdicts {
		if math.IsNaN(v.Number) != (got.Times < 4) || (v.Outcome == Unknown) != (got.Times < 4) {
			t.Errorf("the verdict is %v, with %d of 4 times", v.Outcome, got.Times)
		}
	}
	return got
}

// Goal: the budget is that of every figure that measures, also of one that is no sweep.
func TestBudgetOfEveryFigure(t *testing.T) {
	waits := func(ctx context.Context, _ *Lab, _ Setting, _ time.Time) (*Part, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	f := &Figure{Name: "x", Ways: []Setting{Emulated, Raw}, Other: waits}
	r, err := (&Lab{Ways: Ways(), Budget: time.Millisecond}).Run(t.Context(), f)
	if err != nil || len(r.Parts) != 2 || r.Parts[0].Missing != errLate.Error() || r.Parts[1].Missing != errLate.Error() || r.Made() {
		t.Errorf("%+v, %v", r, err)
	}
}

// Goal: rows that a run had written when it was interrupted count.
func TestInterruptKeepsRowsOfARun(t *testing.T) {
	b := fakeBench(t, `trap "exit 1" INT; printf '{"impl":"gaspi","bytes":8,"p50_us":1}\n' > "$file"; touch "$0.wrote"; sleep 600 & wait`)
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	var r *FigureResult
	var err error
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r, err = (&Lab{Bench: b, Ways: Ways(), Budget: time.Hour}).Run(ctx, &Figure{Name: "x", Sweep: measured()})
	}()
	testenv.Eventually(t, "the row has been written", func() bool { _, err := os.Stat(b.Program + ".wrote"); return err == nil })
	interrupt()
	<-ended
	if err == nil || len(r.Parts) != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	p := r.Parts[0]
	if p.Missing != "" || p.Cut != "it was interrupted; missing, in whole or in part: a of 2 ranks" || len(p.Rows) != 1 || p.Tables[0].Rows[0][2] != "1" || p.Tables[0].Rows[1][2] != "-" || !r.Made() {
		t.Errorf("missing %q, cut %q, %d rows, table %v", p.Missing, p.Cut, len(p.Rows), p.Tables)
	}
}
