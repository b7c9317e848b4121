package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/bytesize"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/report"
)

// A subject is what a line of the table is about.
type subject struct {
	operation, transport string
	ranks                int
	bytes                uint64
}

// A comparison is the times of both commits for a subject.
type comparison struct {
	subject
	old, new float64 // medians over rounds of p50, in microseconds
	// ratio is the median of the old time by the new one, of rounds, which are between low
	// and high: above 1, the new commit is faster.
	ratio, low, high float64
	// limit is ratio for what the machine can do at least, which no commit changes; 0 where
	// there is no such row.
	limit  float64
	rounds int // in which both have a time
}

// fewRounds is how many rounds agree by chance too often.
const fewRounds = 2

// difference is the least by which times differ if a line is to be called slower or faster.
const difference = 0.03

// verdict is faster or slower if the median of ratios differs by more than difference and
// all rounds agree, of which there are more than fewRounds; else empty.
func (c *comparison) verdict() string {
	switch {
	case c.rounds <= fewRounds:
	case c.ratio > 1+difference && c.low > 1:
		return "faster"
	case c.ratio < 1/(1+difference) && c.high < 1:
		return "slower"
	}
	return ""
}

// compare makes the lines of the table: operations in the order in which they were measured,
// then transports, ranks and sizes. A round counts for a line if both commits have it.
func compare(records []sideRow) []comparison {
	var order []subject
	times := make(map[subject]map[string][]timed) // by impl
	place := make(map[string]int)
	for _, r := range records {
		s := subject{r.Op, r.Transport, r.N, r.Bytes}
		if times[s] == nil {
			times[s] = make(map[string][]timed)
			order = append(order, s)
		}
		if _, ok := place[r.Op]; !ok {
			place[r.Op] = len(place)
		}
		times[s][r.Impl] = note(times[s][r.Impl], r)
	}
	slices.SortStableFunc(order, func(a, b subject) int { return cmp.Compare(place[a.operation], place[b.operation]) })
	var all []comparison
	for _, s := range order {
		ours := pairs(times[s][report.ImplGaspi])
		if len(ours) == 0 {
			continue
		}
		c := comparison{subject: s, rounds: len(ours)}
		c.old, c.new = median(ours, func(t timed) float64 { return t.old }), median(ours, func(t timed) float64 { return t.new })
		c.ratio, c.low, c.high = median(ours, timed.ratio), timed.ratio(slices.MinFunc(ours, byRatio)), timed.ratio(slices.MaxFunc(ours, byRatio))
		if limit := pairs(times[s][report.ImplLimit]); len(limit) > 0 {
			c.limit = median(limit, timed.ratio)
		}
		all = append(all, c)
	}
	return all
}

// A timed is the times of both commits in a round, 0 where there is none yet.
type timed struct {
	round    int
	old, new float64
}

func (t timed) ratio() float64 { return t.old / t.new }

func byRatio(a, b timed) int { return cmp.Compare(a.ratio(), b.ratio()) }

// note adds a time to those of rounds. Of two of the same size, because sizes are rounded to
// whole blocks, the first counts.
func note(all []timed, r sideRow) []timed {
	i := slices.IndexFunc(all, func(t timed) bool { return t.round == r.In })
	if i < 0 {
		i, all = len(all), append(all, timed{round: r.In})
	}
	at := &all[i].old
	if r.Side == sideNames[1] {
		at = &all[i].new
	}
	if *at == 0 {
		*at = r.P50US
	}
	return all
}

// pairs are the rounds in which both commits have a time.
func pairs(all []timed) []timed {
	return slices.DeleteFunc(slices.Clone(all), func(t timed) bool { return t.old <= 0 || t.new <= 0 })
}

func median(all []timed, of func(timed) float64) float64 {
	var xs []float64
	for _, t := range all {
		xs = append(xs, of(t))
	}
	return report.Median(xs)
}

const lineFormat = "%-10s %-9s %5s %7s %11s %11s %8s %15s %7s  %s"

// tableLines are the table, and a line that sums it up.
func tableLines(all []comparison) []string {
	lines := []string{
		"p50 in microseconds; old/new is the median of rounds (above 1, the new commit is faster), of limit for what the machine can do at least",
		report.Trimmed(fmt.Sprintf(lineFormat, "op", "transport", "ranks", "bytes", "old us", "new us", "old/new", "of rounds", "limit", "")),
	}
	count := map[string]int{}
	logs := 0.0
	for _, c := range all {
		bytes, limit := "-", "-"
		if c.bytes > 0 {
			bytes = bytesize.Format(c.bytes)
		}
		if c.limit > 0 {
			limit = fmt.Sprintf("%.2f", c.limit)
		}
		lines = append(lines, report.Trimmed(fmt.Sprintf(lineFormat, c.operation, c.transport, fmt.Sprint(c.ranks), bytes, report.Number(c.old), report.Number(c.new),
			fmt.Sprintf("%.3f", c.ratio), fmt.Sprintf("%.3f to %.3f", c.low, c.high), limit, c.verdict())))
		count[c.verdict()]++
		logs += math.Log(c.ratio)
	}
	return append(lines, fmt.Sprintf("geometric mean of old/new over %d lines: %.3f; by more than %.0f %%, and in every round, slower: %d, faster: %d",
		len(all), math.Exp(logs/float64(len(all))), 100*difference, count["slower"], count["faster"]))
}
