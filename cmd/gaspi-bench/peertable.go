package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/bytesize"
)

// Columns of the table of rows beside peers.
const peerFormat = "%-13s %7s  %-*s %-33s%11s %11s %11s %11s %9s %6s"

// show prints everything that was measured.
func (c *contest) show() error {
	c.out.done()
	rows := c.tally.sorted()
	all := compare(rows)
	lines := append([]string{c.out.head}, c.describe()...)
	lines = append(lines, peerLines(rows)...)
	for _, op := range c.operations() {
		lines = append(lines, "")
		lines = append(lines, comparisonLines(op, all)...)
	}
	c.out.kept = rows
	if err := c.out.printTable(append(lines, c.notes...)); err != nil {
		return err
	}
	return c.writeJSON(rows, all)
}

// describe says how figures came about.
func (c *contest) describe() []string {
	what := c.o.op.name
	if g := c.o.collective; g != nil {
		what += " of " + g.dtype.name
		if g.what.Reduces() {
			what += ", " + g.op.String()
		}
	}
	return []string{fmt.Sprintf("%s; medians of %d rounds, in each of which every side ran once", what, c.o.peers.repetitions)}
}

// peerLines are the table of rows.
func peerLines(rows []row) []string {
	wide := 16
	for _, r := range rows {
		wide = max(wide, len(r.implementation()))
	}
	lines := []string{trimmed(fmt.Sprintf(peerFormat, "op", "bytes", wide, "impl", "how", "min us", "p50 us", "p99 us", "mean us", "+-95%", "rounds"))}
	for _, r := range rows {
		bytes := "-"
		if r.Bytes > 0 {
			bytes = bytesize.Format(r.Bytes)
		}
		how := list(r.Congestion, r.Algorithm, r.Way)
		if r.Note != "" {
			lines = append(lines, trimmed(fmt.Sprintf("%-13s %7s  %-*s %-33s %s", r.Op, bytes, wide, r.implementation(), how, r.Note)))
			continue
		}
		interval := "-"
		if len(r.Rounds) > 1 {
			interval = figure(r.MeanCI95US)
		}
		lines = append(lines, trimmed(fmt.Sprintf(peerFormat, r.Op, bytes, wide, r.implementation(), how,
			figure(r.MinUS), figure(r.P50US), figure(r.P99US), figure(r.MeanUS), interval, fmt.Sprint(len(r.Rounds)))))
	}
	return lines
}

// implementation names whose row it is, with the version of a peer.
func (r row) implementation() string {
	if r.Version == "" || r.Impl == implGaspi {
		return r.Impl
	}
	return r.Impl + " " + r.Version
}

// comparisonLines are the closing table of an operation.
func comparisonLines(op string, all []comparison) []string {
	all = slices.DeleteFunc(slices.Clone(all), func(c comparison) bool { return c.Op != op })
	if len(all) == 0 {
		return nil
	}
	head := fmt.Sprintf("%7s %11s", "bytes", implGaspi)
	for _, p := range all[0].Peers {
		head += fmt.Sprintf(" %*s", p.width(), p.label())
	}
	lines := []string{
		op + ": p50 in microseconds, and the better peer's time by ours (above 1, ours is faster)",
		head + fmt.Sprintf(" %8s %15s %11s %8s  %s", "ratio", "of rounds", "limit", "of limit", "better peer"),
	}
	for _, c := range all {
		lines = append(lines, trimmed(c.line()))
	}
	var words []string
	for _, m := range means(op, all) {
		words = append(words, fmt.Sprintf("%s %.2f", m.Of, m.Ratio))
		if m.Sizes < len(all) {
			words[len(words)-1] += fmt.Sprintf(" (%d of %d sizes)", m.Sizes, len(all))
		}
	}
	if len(words) > 0 && all[0].Bytes > 0 {
		lines = append(lines, "geometric mean of ratios: "+strings.Join(words, ", "))
	}
	return lines
}

// list joins the words that there are.
func list(words ...string) string {
	return strings.Join(slices.DeleteFunc(words, func(s string) bool { return s == "" }), ", ")
}

// width returns the width of a peer's column in characters.
func (p challenge) width() int { return max(11, len(p.label())) }

// line is a line of the closing table.
func (c comparison) line() string {
	bytes := "-"
	if c.Bytes > 0 {
		bytes = bytesize.Format(c.Bytes)
	}
	line := fmt.Sprintf("%7s %11s", bytes, figure(c.GaspiUS))
	for _, p := range c.Peers {
		cell := figure(p.US)
		if p.US == 0 {
			cell, _, _ = strings.Cut(p.Note, " (")
		}
		line += fmt.Sprintf(" %*s", p.width(), cell)
	}
	ratio, spread := "-", "-"
	if c.Better >= 0 {
		ratio, spread = fmt.Sprintf("%.2f", c.Ratio), fmt.Sprintf("%.2f to %.2f", c.RatioLow, c.RatioHigh)
	}
	line += fmt.Sprintf(" %8s %15s", ratio, spread)
	limit, ofLimit := "-", "-"
	if c.LimitUS > 0 {
		limit, ofLimit = figure(c.LimitUS), fmt.Sprintf("%.2f", c.GaspiUS/c.LimitUS)
	}
	line += fmt.Sprintf(" %11s %8s", limit, ofLimit)
	if c.Better >= 0 {
		p := c.Peers[c.Better]
		line += "  " + list(p.label(), p.Algorithm, p.Way)
	}
	return line
}

// writeJSON writes rows, then comparisons and means as objects with one member.
func (c *contest) writeJSON(rows []row, all []comparison) error {
	if c.out.json == nil {
		return nil
	}
	if err := writeJSON(c.out.json, rows); err != nil {
		return err
	}
	enc := json.NewEncoder(c.out.json)
	for _, made := range all {
		if err := enc.Encode(map[string]comparison{"comparison": made}); err != nil {
			return fmt.Errorf("writing comparisons: %w", err)
		}
	}
	for _, op := range c.operations() {
		for _, m := range means(op, all) {
			if err := enc.Encode(map[string]mean{"geomean": m}); err != nil {
				return fmt.Errorf("writing comparisons: %w", err)
			}
		}
	}
	return nil
}
