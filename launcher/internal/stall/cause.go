package stall

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/phrase"
)

// A graph is who waits for whom. The index of a slice is the rank.
type graph struct {
	views []View
	stuck []bool // it waits, and nobody that moves can end that
}

// newGraph takes the views of all ranks, in their order.
func newGraph(views []View) *graph {
	g := &graph{views: views, stuck: make([]bool, len(views))}
	for i := range views {
		g.stuck[i] = views[i].waits()
	}
	for changed := true; changed; {
		changed = false
		for i := range views {
			if g.stuck[i] && slices.ContainsFunc(views[i].Waits, g.mayEnd) {
				g.stuck[i], changed = false, true
			}
		}
	}
	return g
}

// moves reports whether a rank does something, or will when others have.
func (g *graph) moves(r base.Rank) bool {
	if int(r) >= len(g.views) {
		return false
	}
	switch v := &g.views[r]; v.State {
	case Absent, Computing:
		return true
	default:
		return v.waits() && !g.stuck[r]
	}
}

// mayEnd reports whether ranks that move can end a call.
func (g *graph) mayEnd(c WaitingCall) bool {
	if c.Any {
		return slices.ContainsFunc(c.From, g.moves)
	}
	return !slices.ContainsFunc(c.From, func(r base.Rank) bool { return !g.moves(r) })
}

// from returns the ranks that a rank waits for in any call.
func (g *graph) from(r base.Rank) (all []base.Rank) {
	if !g.views[r].waits() {
		return nil
	}
	for _, c := range g.views[r].Waits {
		for _, f := range c.From {
			if int(f) < len(g.views) {
				all = append(all, f)
			}
		}
	}
	return all
}

// ranks returns those that a condition holds for.
func (g *graph) ranks(is func(v *View) bool) (list []base.Rank) {
	for i := range g.views {
		if is(&g.views[i]) {
			list = append(list, base.Rank(i))
		}
	}
	return list
}

// awaited returns the ranks that stuck ranks wait for, in the calls that count.
func (g *graph) awaited(counts func(c WaitingCall) bool) map[base.Rank]bool {
	set := map[base.Rank]bool{}
	for i := range g.views {
		if !g.stuck[i] {
			continue
		}
		for _, c := range g.views[i].Waits {
			for _, f := range c.From {
				if counts(c) {
					set[f] = true
				}
			}
		}
	}
	return set
}

// cause returns the ranks at the root of all waits, and a sentence that names them.
func (g *graph) cause() (roots []base.Rank, sentence string) {
	if len(g.ranks((*View).waits)) == 0 {
		if roots = g.ranks(func(v *View) bool { return v.State == Absent }); len(roots) > 0 {
			return roots, "gaspi.Init has not returned in " + names(roots)
		}
		return nil, "no rank waits in a call"
	}
	if !slices.Contains(g.stuck, true) {
		return g.slow()
	}
	for _, find := range []func() ([]base.Rank, string){g.absent, g.unposted, g.mismatch} {
		if roots, sentence = find(); len(roots) > 0 {
			return roots, sentence
		}
	}
	roots = g.ranks(func(v *View) bool { return g.stuck[v.Rank] })
	if len(roots) == 1 {
		return roots, fmt.Sprintf("%s waits in %s, and no other rank can end that", names(roots), g.call(roots[0]))
	}
	return roots, fmt.Sprintf("%s wait for each other in %s", names(roots), g.call(roots[0]))
}

// slow is the cause of waits that end as soon as ranks that move have come as far.
func (g *graph) slow() ([]base.Rank, string) {
	reached := map[base.Rank]bool{}
	var visit func(r base.Rank)
	visit = func(r base.Rank) {
		if !reached[r] {
			reached[r] = true
			for _, f := range g.from(r) {
				visit(f)
			}
		}
	}
	for _, r := range g.ranks((*View).waits) {
		visit(r)
	}
	at := func(s State) []base.Rank {
		return g.ranks(func(v *View) bool { return v.State == s && reached[v.Rank] })
	}
	if late := at(Absent); len(late) > 0 {
		return g.late(late)
	}
	roots := at(Computing)
	if len(roots) == 0 {
		return nil, "no rank is known that others wait for"
	}
	slices.SortStableFunc(roots, func(a, b base.Rank) int { return int(g.views[b].For - g.views[a].For) })
	longest := g.views[roots[0]].For
	slices.Sort(roots)
	return roots, fmt.Sprintf("%s %s, outside of any call that waits, for %s%s",
		names(roots), phrase.Plural(len(roots), "computes", "compute"), phrase.Seconds(longest), g.behind(roots))
}

// late is the cause if ranks wait for some that have not joined: those that have not come to gaspi.Init, or else those
// that do not get on in it.
func (g *graph) late(ranks []base.Rank) ([]base.Rank, string) {
	roots := slices.DeleteFunc(slices.Clone(ranks), func(r base.Rank) bool { return g.views[r].Why == initCall })
	if len(roots) > 0 {
		return roots, fmt.Sprintf("%s %s not come to %s%s", names(roots), phrase.Plural(len(roots), "has", "have"), initCall, g.behind(roots))
	}
	return ranks, fmt.Sprintf("%s %s come to %s and %s not get on in it%s", names(ranks), phrase.Plural(len(ranks), "has", "have"),
		initCall, phrase.Plural(len(ranks), "does", "do"), g.behind(ranks))
}

// absent is the cause if stuck ranks wait for some that do nothing any more.
func (g *graph) absent() ([]base.Rank, string) {
	needed := g.awaited(func(c WaitingCall) bool { return !c.Any })
	possible := g.awaited(func(WaitingCall) bool { return true })
	for _, s := range []State{Gone, Silent, Left} {
		roots := g.ranks(func(v *View) bool {
			return v.State == s && (needed[v.Rank] || possible[v.Rank] && g.missed(v))
		})
		if len(roots) == 0 {
			continue
		}
		v := &g.views[roots[0]]
		is := phrase.Plural(len(roots), "is", "are")
		switch s {
		case Gone:
			return roots, fmt.Sprintf("%s %s gone (%s)%s", names(roots), is, v.Why, g.behind(roots))
		case Silent:
			return roots, fmt.Sprintf("%s %s stopped, or %s no processor, for %s%s", names(roots), is,
				phrase.Plural(len(roots), "gets", "get"), phrase.Seconds(v.For), g.behind(roots))
		}
		return roots, fmt.Sprintf("%s %s left the job%s", names(roots), phrase.Plural(len(roots), "has", "have"), g.behind(roots))
	}
	return nil, ""
}

// missed reports whether a rank that does nothing any more is missed where any one of several would
// do: it has failed or is silent, or none of them waits.
func (g *graph) missed(v *View) bool {
	if v.State == Silent || v.State == Gone && !v.endedWell() {
		return true
	}
	waits := func(r base.Rank) bool { return g.views[r].waits() }
	return slices.ContainsFunc(g.ranks(func(o *View) bool { return g.stuck[o.Rank] }), func(r base.Rank) bool {
		return slices.ContainsFunc(g.views[r].Waits, func(c WaitingCall) bool {
			return slices.Contains(c.From, v.Rank) && !slices.ContainsFunc(c.From, waits)
		})
	})
}

// endedWell reports whether a rank that is gone has ended with status 0.
func (v *View) endedWell() bool { return v.Why == EndedWell }

// EndedWell is View.Why of a rank that has ended with status 0.
const EndedWell = "exit status 0"

// unposted is the cause if stuck ranks wait for what any of several could bring, as a notification:
// all of those wait themselves. Those that others need come before those that nobody needs.
func (g *graph) unposted() ([]base.Rank, string) {
	needed := g.awaited(func(c WaitingCall) bool { return !c.Any })
	loose := func(v *View) bool { return g.stuck[v.Rank] && v.Waits[0].Any }
	roots := g.ranks(func(v *View) bool { return loose(v) && needed[v.Rank] })
	if len(roots) == 0 {
		roots = g.ranks(loose)
	}
	if len(roots) == 0 {
		return nil, ""
	}
	r := roots[0]
	who, from := "nobody", g.views[r].Waits[0].From
	if len(from) > 0 {
		who = names(from)
	}
	sentence := fmt.Sprintf("%s waits in %s, and %s, which could end that, %s", names(roots[:1]), g.call(r), who,
		phrase.Plural(len(from), "waits too", "wait too"))
	if len(from) == 0 {
		sentence = fmt.Sprintf("%s waits in %s, and no other rank can end that", names(roots[:1]), g.call(r))
	}
	if len(roots) > 1 {
		sentence += fmt.Sprintf("; so %s %s", phrase.Plural(len(roots)-1, "does", "do"), names(roots[1:]))
	}
	return roots, sentence
}

// mismatch is the cause if stuck ranks that wait for each other are in calls that differ. The fewest
// are taken for those that went wrong, and of as many those that came last.
func (g *graph) mismatch() ([]base.Rank, string) {
	classes := map[string][]base.Rank{}
	var keys []string
	for _, r := range g.ranks(func(v *View) bool { return g.stuck[v.Rank] }) {
		c := g.views[r].Waits[0]
		key := c.Name + "\n" + c.Group
		if classes[key] == nil {
			keys = append(keys, key)
		}
		classes[key] = append(classes[key], r)
	}
	if len(keys) < 2 {
		return nil, ""
	}
	slices.SortStableFunc(keys, func(a, b string) int {
		x, y := classes[a], classes[b]
		if d := len(x) - len(y); d != 0 {
			return d
		}
		return int(g.views[x[0]].Waits[0].For - g.views[y[0]].Waits[0].For)
	})
	var parts []string
	for _, key := range keys {
		members := classes[key]
		parts = append(parts, fmt.Sprintf("%s %s in %s", names(members), phrase.Plural(len(members), "is", "are"), g.call(members[0])))
	}
	return classes[keys[0]], strings.Join(parts, ", but ") + ": the calls do not match"
}

// call names the call that a rank waits in.
func (g *graph) call(r base.Rank) string {
	c := &g.views[r].Waits[0]
	text := c.Text()
	if c.Place != "" {
		text += " (" + c.Place + ")"
	}
	return text
}

// Text is the call as sentences and tables show it, with what it waits for.
func (c *WaitingCall) Text() string {
	switch {
	case c.Detail == "":
		return c.Name
	case strings.HasPrefix(c.Detail, "of "):
		return c.Name + " " + c.Detail
	case c.Group != "":
		return c.Name + ", " + c.Detail
	}
	return c.Name + " for " + c.Detail
}

// behind says which ranks wait for roots, directly or not.
func (g *graph) behind(roots []base.Rank) string {
	waiters := slices.Sorted(maps.Keys(g.toward(roots)))
	if len(waiters) == 0 {
		return ""
	}
	return fmt.Sprintf("; %s %s for %s", names(waiters), phrase.Plural(len(waiters), "waits", "wait"), phrase.Plural(len(roots), "it", "them"))
}

// names is "rank 3" or "ranks 0, 2 and 5-7".
func names(ranks []base.Rank) string { return phrase.Named(ranks, "rank", "ranks") }
