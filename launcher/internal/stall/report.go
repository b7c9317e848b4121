package stall

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/phrase"
)

const (
	mostSingle = 16 // ranks of a job that have a line each; in larger ones those that are alike share it
	mostLines  = 40 // of the table
	mostChains = 8
)

// Report returns a sentence that names the cause of all waits, and below it a table of all ranks and
// the chains of waits. views has one of each rank of the job, in their order.
func Report(views []View) (cause, details string) {
	g := newGraph(views)
	roots, cause := g.cause()
	var b strings.Builder
	g.table(&b)
	for _, line := range g.chains(roots) {
		fmt.Fprintln(&b, line)
	}
	return cause, strings.TrimSuffix(b.String(), "\n")
}

// A row is ranks that do the same.
type row struct {
	ranks []base.Rank
	cells string // host, state and call
	rest  string // from whom, and where in the source
	since string // how long, of the one that has done so for the longest time
	age   int64
}

// table writes a line for each rank, or for all that are alike.
func (g *graph) table(b *strings.Builder) {
	var rows []*row
	known := map[string]*row{}
	for i := range g.views {
		for _, r := range g.views[i].rows() {
			key := r.cells + "\n" + r.rest
			same := known[key]
			if same == nil || len(g.views) <= mostSingle {
				known[key] = r
				rows = append(rows, r)
				continue
			}
			same.ranks = append(same.ranks, r.ranks...)
			if r.age > same.age {
				same.age, same.since = r.age, r.since
			}
		}
	}
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "RANK\tHOST\tSTATE\tCALL\tFOR\tFROM\tPLACE")
	for _, r := range rows[:min(len(rows), mostLines)] {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", phrase.Numbers(r.ranks), r.cells, r.since, r.rest)
	}
	_ = w.Flush() // to memory
	if more := len(rows) - mostLines; more > 0 {
		fmt.Fprintf(b, "and %d more lines\n", more)
	}
}

// rows are the lines of a rank: one, or one for each call that waits.
func (v *View) rows() (rows []*row) {
	one := func(call, from, place string, age int64, since string) {
		rows = append(rows, &row{
			ranks: []base.Rank{v.Rank}, cells: fmt.Sprintf("%s\t%v\t%s", v.Host, v.State, call),
			rest: from + "\t" + place, since: since, age: age,
		})
	}
	for i := range v.Waits {
		c := &v.Waits[i]
		one(c.Text(), c.Whom(), cmp.Or(c.Place, "-"), int64(c.For), phrase.Seconds(c.For))
	}
	switch {
	case len(rows) > 0:
	case v.State == Computing || v.State == Silent:
		one("-", "-", "-", int64(v.For), phrase.Seconds(v.For))
	default:
		one(cmp.Or(v.Why, "-"), "-", "-", 0, "-")
	}
	return rows
}

// Whom says which ranks can end a call.
func (c *WaitingCall) Whom() string {
	if len(c.From) == 0 {
		return "-"
	}
	text := phrase.Numbers(c.From)
	if c.More > 0 {
		text += fmt.Sprintf(" and %d more", c.More)
	}
	if c.Any && len(c.From)+c.More > 1 {
		text = "any of " + text
	}
	return text
}

// chains says how the other ranks wait for roots, and which wait for each other.
func (g *graph) chains(roots []base.Rank) []string {
	next := g.toward(roots)
	path := func(r base.Rank) string {
		text := ""
		for i := 0; i < len(g.views); i++ {
			n, ok := next[r]
			if !ok {
				break
			}
			r = n
			text += fmt.Sprintf(" -> rank %d", r)
		}
		return fmt.Sprintf("%s (%v)", text, g.views[r].State)
	}
	inner := map[base.Rank]bool{}
	for _, n := range next {
		inner[n] = true
	}
	alike := map[string][]base.Rank{}
	for r := range next {
		if !inner[r] {
			p := path(r)
			alike[p] = append(alike[p], r)
		}
	}
	paths := slices.Collect(maps.Keys(alike))
	for _, ranks := range alike {
		slices.Sort(ranks)
	}
	slices.SortFunc(paths, func(a, b string) int { return cmp.Compare(alike[a][0], alike[b][0]) })
	var lines []string
	for _, p := range paths {
		lines = append(lines, names(alike[p])+p)
	}
	if more := len(lines) - mostChains; more > 0 {
		lines = append(lines[:mostChains], fmt.Sprintf("and %d more chains", more))
	}
	if len(roots) > 0 && g.stuck[roots[0]] {
		if c := g.cycle(roots[0]); c != "" {
			lines = append(lines, "cycle: "+c)
		}
	}
	return lines
}

// toward returns, for each rank that waits for roots, directly or not, the next one on the shortest
// way there.
func (g *graph) toward(roots []base.Rank) map[base.Rank]base.Rank {
	waiters := map[base.Rank][]base.Rank{}
	for i := range g.views {
		for _, f := range g.from(base.Rank(i)) {
			waiters[f] = append(waiters[f], base.Rank(i))
		}
	}
	next, queue := map[base.Rank]base.Rank{}, slices.Clone(roots)
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		for _, w := range waiters[at] {
			if _, known := next[w]; !known && !slices.Contains(roots, w) {
				next[w] = at
				queue = append(queue, w)
			}
		}
	}
	return next
}

// cycle returns the shortest chain of waits from a rank back to itself, or "".
func (g *graph) cycle(start base.Rank) string {
	next := g.toward([]base.Rank{start})
	best := ""
	shortest := len(g.views) + 1
	for _, f := range g.from(start) {
		text, n := fmt.Sprintf("rank %d", start), 0
		for r := f; ; n++ {
			text += fmt.Sprintf(" -> rank %d", r)
			if r == start {
				break
			}
			further, ok := next[r]
			if !ok {
				n = len(g.views) + 1
				break
			}
			r = further
		}
		if n < shortest {
			shortest, best = n, text
		}
	}
	return best
}
