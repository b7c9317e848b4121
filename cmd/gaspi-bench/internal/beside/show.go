package beside

import (
	"fmt"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/report"
)

// show prints everything that was measured, and nothing if that is nothing.
func (c *comparison) show() error {
	if c.tally.Empty() {
		return nil
	}
	rows := c.tally.Sorted()
	all := report.Compare(rows)
	lines := append(c.describe(), report.PeerLines(rows)...)
	for _, op := range c.operations() {
		lines = append(lines, "")
		lines = append(lines, report.ComparisonLines(op, all)...)
	}
	if err := c.out.ShowAs(append(lines, c.remarks()...), rows); err != nil {
		return err
	}
	return c.encode(all)
}

// describe says how figures came about.
func (c *comparison) describe() []string {
	what := c.Op
	if g := c.Call; g != nil {
		what += " of " + g.Dtype.Name
		if g.What.Reduces() {
			what += ", " + g.Op.String()
		}
	}
	if c.ended < c.Peers.Repetitions {
		return []string{fmt.Sprintf("%s; not complete: ended in round %d of %d; medians of the rounds that a row has", what, c.begun, c.Peers.Repetitions)}
	}
	return []string{fmt.Sprintf("%s; medians of %d rounds, in each of which every side ran once", what, c.ended)}
}

// remarks are what readers must know.
func (c *comparison) remarks() []string {
	if c.apart == nil || c.apart.String() == "" {
		return c.notes
	}
	return append(c.notes, c.apart.String())
}

// encode writes comparisons and means to JSON, as objects with one member.
func (c *comparison) encode(all []report.Comparison) error {
	for _, made := range all {
		if err := c.out.Encode("comparisons", map[string]report.Comparison{"comparison": made}); err != nil {
			return err
		}
	}
	for _, op := range c.operations() {
		for _, m := range report.Means(op, all) {
			if err := c.out.Encode("comparisons", map[string]report.Mean{"geomean": m}); err != nil {
				return err
			}
		}
	}
	return nil
}
