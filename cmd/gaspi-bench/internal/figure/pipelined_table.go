package figure

import (
	"context"
	"fmt"
	"math/bits"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/algorithms"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// counts are what an algorithm takes on any machine for a vector of n elements, or
// blocks of as many if the operation is blockwise.
func counts(op schedule.Operation, name string, ranks, n int) (price.Counts, error) {
	return countsOf(schedule.Call{Op: op, Size: ranks, Count: n}, name)
}

func countsOf(c schedule.Call, name string) (price.Counts, error) {
	a, err := algorithms.Lookup(c.Op, name)
	if err != nil {
		return price.Counts{}, err
	}
	c.Line = 1 // no element is added to keep writers apart
	return price.Cost(&c, a.Emit)
}

// pipelinedTable1 is Table 1: the coefficients of latency, bandwidth and arithmetic.
func pipelinedTable1() Figure {
	return Figure{
		Name: "pipelined-table-1", Paper: pipelined, Place: "Table 1", Title: "Theoretical cost of allreduce",
		About: "The coefficients of latency (in messages, one after the other), bandwidth and arithmetic (in vectors), counted in the schedules of all ranks.",
		Ways:  []Setting{Simulated}, Other: table1,
	}
}

// A table1Row is a row of Table 1: coefficients for p ranks, a power of two, and a
// vector of one.
type table1Row struct {
	name, algorithm string
	formulas        [3]string
	coefficients    func(p float64, log float64) [3]float64
}

func table1Rows() []table1Row {
	return []table1Row{
		{nameDoubling, "doubling", [3]string{"log p", "n log p", "n log p"}, func(_, log float64) [3]float64 { return [3]float64{log, log, log} }},
		{nameHalving, "halving", [3]string{"2 log p", "2n(p-1)/p", "n(p-1)/p"}, func(p, log float64) [3]float64 { return [3]float64{2 * log, 2 * (p - 1) / p, (p - 1) / p} }},
		{nameRing, "ring", [3]string{"2(p-1)", "2n(p-1)/p", "n(p-1)/p"}, func(p, _ float64) [3]float64 { return [3]float64{2 * (p - 1), 2 * (p - 1) / p, (p - 1) / p} }},
		{nameBinomial, "binomial", [3]string{"2 log p", "2n log p", "n log p"}, func(_, log float64) [3]float64 { return [3]float64{2 * log, 2 * log, log} }},
	}
}

// table1 counts in the schedules.
func table1(context.Context, *Lab, Setting, time.Time) (*Part, error) {
	part := &Part{Setting: "counts, which are the same on any machine"}
	sizes := []int{2, 4, 8, 16, 32, 64}
	for _, r := range table1Rows() {
		table := Table{Title: r.name, Head: []string{"ranks"}}
		for _, formula := range r.formulas {
			table.Head = append(table.Head, formula, "counted")
		}
		agree := 0
		for _, p := range sizes {
			n := 60 * p
			k, err := counts(schedule.AllReduce, r.algorithm, p, n)
			if err != nil {
				return nil, err
			}
			got := [3]float64{float64(k.Rounds), k.Bandwidth / float64(n), k.Arithmetic / float64(n)}
			want := r.coefficients(float64(p), float64(bits.Len(uint(p))-1))
			cells := []string{fmt.Sprint(p)}
			for i := range want {
				cells = append(cells, fmt.Sprintf("%.4g", want[i]), fmt.Sprintf("%.4g", got[i]))
				if got[i] == want[i] {
					agree++
				}
			}
			table.Rows = append(table.Rows, cells)
		}
		all := float64(3 * len(sizes))
		part.add(&Claim{
			Text: fmt.Sprintf("%s: coefficients that are those of the table, of 3 for each of 2 to 64 ranks", r.name),
			Kind: Count, Paper: exactly(all, "Table 1"),
		}, float64(agree))
		part.Tables = append(part.Tables, table)
	}
	return part, nil
}

// add judges a claim whose number is known.
func (p *Part) add(c *Claim, number float64) {
	c.Number = known(number)
	p.judge(&SweepTimes{Way: Simulated}, c)
}
