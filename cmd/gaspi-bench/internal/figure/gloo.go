package figure

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// glooFigures is Gloo's list.
func glooFigures() []Figure {
	return []Figure{{
		Name: "gloo-table", Paper: gloo, Place: "The list", Title: "Steps and bytes of every algorithm",
		About: "Communication steps and bytes that a rank puts on the wire, as Gloo states them and as counted in the schedules. Gloo rounds P-1 of P up to P, and counts what a rank keeps to itself. 12 and 18 processes are its examples of 8 + 4 and 16 + 2, where it states no numbers: its formulas stand there with lg(P). Its CUDA variants are not there: this library works without C, and has no access to the memory of a GPU.",
		Ways:  []Setting{Simulated}, Other: glooTable,
	}}
}

// A glooRow is an entry of the list. P is the number of ranks; bytes are in vectors,
// those of a barrier in messages.
type glooRow struct {
	op           schedule.Operation
	algorithm    string
	radix        int
	steps        func(p float64) float64
	bytes        func(p float64) float64
	stepsFormula string
	bytesFormula string
	// messages says that the list counts the messages of a rank, not their chain.
	messages bool
}

func glooRows() []glooRow {
	log := math.Log2
	one := func(float64) float64 { return 1 }
	two := func(float64) float64 { return 2 }
	all := func(p float64) float64 { return p }
	rows := []glooRow{
		{op: schedule.AllReduce, algorithm: "gloo-ring", steps: func(p float64) float64 { return p - 1 }, bytes: all, stepsFormula: "P-1", bytesFormula: "P*S"},
		{op: schedule.AllReduce, algorithm: "gloo-ring-chunked", steps: func(p float64) float64 { return 4 * p }, bytes: two, stepsFormula: "4*P", bytesFormula: "2*S", messages: true},
		{op: schedule.AllReduce, algorithm: "halving", steps: func(p float64) float64 { return 2 * log(p) }, bytes: two, stepsFormula: "2*lg(P)", bytesFormula: "2*S"},
	}
	for _, base := range []int{2, 4} {
		b := float64(base)
		rows = append(rows, glooRow{
			op: schedule.AllReduce, algorithm: "bcube", radix: base,
			steps:        func(p float64) float64 { return 2 * log(p) / log(b) },
			bytes:        func(p float64) float64 { return 2 * (1 - 1/p) / (1 - 1/b) }, // the sum of S/B^s
			stepsFormula: fmt.Sprintf("2*log_%d(P)", base), bytesFormula: fmt.Sprintf("2*Sum(S/%d^s)", base),
		})
	}
	return append(rows,
		glooRow{op: schedule.ReduceScatter, algorithm: "halving", steps: log, bytes: one, stepsFormula: "lg(P)", bytesFormula: "S"},
		glooRow{op: schedule.Barrier, algorithm: "all-to-all", steps: one, bytes: all, stepsFormula: "1", bytesFormula: "P"},
		glooRow{op: schedule.Barrier, algorithm: "all-to-one", steps: two, bytes: all, stepsFormula: "2", bytesFormula: "P for root"},
		glooRow{op: schedule.Broadcast, algorithm: "flat", steps: one, bytes: all, stepsFormula: "1", bytesFormula: "P*S"},
		glooRow{op: schedule.Exchange, algorithm: "pairwise", steps: log, bytes: one, stepsFormula: "C = lg(P)", bytesFormula: "S"},
	)
}

// name is an algorithm of the list.
func (r *glooRow) name() string {
	s := fmt.Sprintf("%v %s", r.op, r.algorithm)
	if r.radix > 0 {
		s += fmt.Sprintf(", base %d", r.radix)
	}
	return s
}

// count is the steps and bytes in the schedules.
func (r *glooRow) count(p int) (steps, bytes float64, err error) {
	n := 240 * p // of which all parts are whole
	c := schedule.Call{Op: r.op, Size: p, Count: n, Radix: r.radix}
	switch r.op {
	case schedule.ReduceScatter:
		c.Count = n / p
	case schedule.Exchange:
		c.Rounds = int(math.Log2(float64(p)))
	case schedule.Barrier:
		c.Count = 0
	}
	k, err := countsOf(c, r.algorithm)
	if err != nil {
		return 0, 0, err
	}
	steps, bytes = float64(k.Rounds), float64(k.Sent)/float64(n)
	return r.asListed(&k, steps, bytes)
}

// asListed counts what the list counts.
func (r *glooRow) asListed(k *price.Counts, steps, bytes float64) (float64, float64, error) {
	switch {
	case r.op == schedule.Barrier:
		return float64(k.Steps), float64(k.Messages), nil
	case r.messages:
		return float64(k.Puts), bytes, nil
	}
	return steps, bytes, nil
}

// rounding is what stated numbers, some of which are logarithms, are rounded by.
const rounding = 1e-9

// glooTable counts in the schedules.
func glooTable(context.Context, *Lab, Setting, time.Time) (*Part, error) {
	part := &Part{Setting: "counts, which are the same on any machine"}
	rows := glooRows()
	within := make([]int, len(rows))
	sizes := []int{4, 16, 64}
	for _, p := range sizes {
		table := glooCounts(fmt.Sprintf("%d ranks", p))
		for i, r := range rows {
			steps, bytes, err := r.count(p)
			if err != nil {
				return nil, err
			}
			statedSteps, statedBytes := r.steps(float64(p)), r.bytes(float64(p))
			table.Rows = append(table.Rows, r.cells(float64(p), steps, bytes))
			for _, ok := range []bool{steps <= statedSteps+rounding, bytes <= statedBytes+rounding} {
				if ok {
					within[i]++
				}
			}
		}
		part.Tables = append(part.Tables, table)
	}
	if err := uneven(part, rows); err != nil {
		return nil, err
	}
	for i, r := range rows {
		part.add(&Claim{
			Text: fmt.Sprintf("%s: counts that are at most what is stated, of steps and bytes on 4, 16 and 64 ranks", r.name()),
			Kind: Count, Paper: exactly(float64(2*len(sizes)), "the list"),
		}, float64(within[i]))
	}
	return part, nil
}

// glooCounts is a table of the list without rows.
func glooCounts(title string) Table {
	return Table{Title: title, Head: []string{"algorithm", "steps, stated", "counted", "bytes, stated", "counted"}}
}

// cells are a row of the table of p ranks.
func (r *glooRow) cells(p, steps, bytes float64) []string {
	return []string{
		r.name(), fmt.Sprintf("%s = %.4g", r.stepsFormula, r.steps(p)), fmt.Sprintf("%.4g", steps),
		fmt.Sprintf("%s = %.4g", r.bytesFormula, r.bytes(p)), fmt.Sprintf("%.4g", bytes),
	}
}

// uneven counts where the ranks are not a power of two, as in Gloo's examples: of allreduce 8 + 4
// processes, of reduce-scatter 16 + 2. Algorithms of a base have no such number of ranks.
func uneven(part *Part, rows []glooRow) error {
	for _, example := range []struct {
		ranks int
		title string
		op    schedule.Operation
	}{{12, "8 + 4", schedule.AllReduce}, {18, "16 + 2", schedule.ReduceScatter}} {
		p := float64(example.ranks)
		table := glooCounts(fmt.Sprintf("%d ranks, %s", example.ranks, example.title))
		for _, r := range rows {
			if r.radix > 0 || r.op == schedule.Exchange {
				continue
			}
			steps, bytes, err := r.count(example.ranks)
			if err != nil {
				return err
			}
			table.Rows = append(table.Rows, r.cells(p, steps, bytes))
			if r.op == example.op && r.algorithm == "halving" {
				part.add(&Claim{
					Text: fmt.Sprintf("%s on %s processes: bytes of the busiest over those that are stated for a power of two", r.name(), example.title),
					Kind: Alike, Paper: saying("relatively well", "the list, of binary blocks"),
				}, bytes/r.bytes(p))
			}
		}
		part.Tables = append(part.Tables, table)
	}
	return nil
}
