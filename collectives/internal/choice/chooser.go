package choice

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/algorithms"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// A Chooser chooses variants for the calls of a team. Its exported fields are the same on all
// members, and do not change after the first choice. It is for one goroutine at a time.
type Chooser struct {
	Machine price.Machine                   // prices are of it
	Forced  map[schedule.Operation]Settings // for calls whose options name no algorithm
	Hosts   []int                           // host of each member as far as cores are concerned; nil if it is that of Signature.Nodes
	OneNode bool                            // all members share memory

	chosen   map[Key]Variant // by the key of the typical call
	topology *price.Topology // of the calls whose members' nodes begin at nodes
	nodes    *int
}

// A Candidate is a variant and its predicted time.
type Candidate struct {
	Variant Variant
	Seconds float64
	Chosen  bool
}

// Choose returns the variant that quickest returns of those that may serve the call.
func (ch *Chooser) Choose(c *Signature) (Variant, error) {
	like := c.typical()
	k := like.Key()
	if v, ok := ch.chosen[k]; ok && c.Counts == nil && v.fits(&c.Call) == nil {
		return v, nil
	}
	want := ch.Wanted(c)
	all := ch.candidates(c, &like, want)
	if len(all) == 0 {
		return Variant{}, ch.whyNone(c, want)
	}
	best := all[0]
	if len(all) > 1 {
		var err error
		if best, err = ch.quickest(all, &like); err != nil {
			return Variant{}, err
		}
	}
	if c.Counts == nil {
		if ch.chosen == nil {
			ch.chosen = make(map[Key]Variant)
		}
		ch.chosen[k] = best
	}
	return best, nil
}

// Explain returns the candidates for a call in their order, with the time that each takes, and
// the chosen one behind them if it is a variant that options alone allow.
func (ch *Chooser) Explain(c *Signature) ([]Candidate, error) {
	chosen, err := ch.Choose(c)
	if err != nil {
		return nil, err
	}
	name := chosen.String()
	variants := ch.Candidates(c, Settings{})
	if !slices.ContainsFunc(variants, func(v Variant) bool { return v.String() == name }) {
		variants = append(variants, chosen)
	}
	prices, err := ch.prices(variants, c)
	if err != nil {
		return nil, err
	}
	var all []Candidate
	for i, v := range variants {
		if seconds := prices[i].seconds; !math.IsInf(seconds, 1) {
			all = append(all, Candidate{v, seconds, v.String() == name})
		}
	}
	return all, nil
}

// aboutEqual is how much longer a variant may take by the model than the quickest and
// still be as good: the model is not that exact.
const aboutEqual = 1.01

// aboutEqualFormulas is the same for a variant with fewer segments if the quickest was not simulated: half of all formulas
// are further than aboutEqual from simulations.
const aboutEqualFormulas = 1.025

// fewerRounds is the same where ranks share cores but not all memory, and another radix of the same algorithm takes fewer
// rounds: a rank that has to pass something on costs more there than the model knows. Broadcasts of 4 to 64 KiB by 4 ranks on 2 cores
// over sockets took 0.9 to 1.8 times as long by eager with radix 2 as in one round, in the median of ten pairs 1.3,
// while the model said 0.92.
const fewerRounds = 1.1

// quickest returns the variant that takes least time by the model; of those about equal the
// one with the fewest segments, whose messages cost what the model does not know, and
// of those the first; where ranks share cores but not all memory, that one with another radix if it then takes fewer rounds.
func (ch *Chooser) quickest(all []Variant, c *Signature) (Variant, error) {
	prices, err := ch.prices(all, c)
	if err != nil {
		return Variant{}, err
	}
	best := cheapest(prices)
	most := prices[best].seconds * aboutEqual
	if !prices[best].simulated {
		most = prices[best].seconds * aboutEqualFormulas
	}
	best = fewestCuts(all, prices, most, best)
	most = min(most, prices[best].seconds*aboutEqual)
	for i, v := range all {
		if !prices[i].heavy && prices[i].seconds <= most && v.cuts() == all[best].cuts() {
			best = i
			break
		}
	}
	if !ch.OneNode && ch.topology.Host > ch.Machine.Cores && ch.Machine.Cores > 0 {
		best = ch.fewest(all, prices, best)
	}
	return all[best], nil
}

// fewestCuts returns the quickest of those variants with the fewest segments that take at most so long, as best does.
func fewestCuts(all []Variant, prices []cost, most float64, best int) int {
	for i, v := range all {
		fewer := v.cuts() - all[best].cuts()
		if !prices[i].heavy && prices[i].seconds <= most && (fewer < 0 || fewer == 0 && prices[i].seconds < prices[best].seconds) {
			best = i
		}
	}
	return best
}

// fewest returns the variant with the fewest rounds of those that differ from best in the radix alone and take little
// longer.
func (ch *Chooser) fewest(all []Variant, prices []cost, best int) int {
	most, fewest := prices[best].seconds*fewerRounds, best
	for i, v := range all {
		v.Radix = all[best].Radix
		if !prices[i].heavy && prices[i].seconds <= most && prices[i].rounds < prices[fewest].rounds && v.String() == all[best].String() {
			fewest = i
		}
	}
	return fewest
}

// Wanted returns the options of a call, with the algorithm that is forced if they name none.
func (ch *Chooser) Wanted(c *Signature) Settings {
	if forced, ok := ch.Forced[c.Op]; ok {
		return c.Options.or(forced)
	}
	return c.Options
}

// Candidates returns the variants that the members' memory, the operation and what is wanted
// allow, in a fixed order. Those that share memory come first: of equals by the model they
// have fewer steps in the queue between.
func (ch *Chooser) Candidates(c *Signature, want Settings) []Variant {
	like := c.typical()
	return ch.candidates(c, &like, want)
}

// candidates is Candidates with the typical call, by whose length vectors are cut.
func (ch *Chooser) candidates(c, like *Signature, want Settings) []Variant {
	var all []Variant
	for _, a := range algorithms.For(c.Op) {
		if want.Algorithm != a.Name && (want.Algorithm != "" || a.Differs) || ch.refuses(c, a) != nil {
			continue
		}
		v := Variant{Algorithm: a, staging: stagingFor(c, a), vectors: 1 + c.Extra}
		for _, v.Radix = range radices(c, a, want) {
			for _, v.Segments = range segmentations(like, a, want) {
				if v.fits(&c.Call) == nil {
					all = append(all, v)
				}
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Variant) int { return cmp.Compare(rank(a), rank(b)) })
	return all
}

func rank(v Variant) int {
	if v.Algorithm.Shares {
		return 0
	}
	return 1
}

// refuses returns why a team cannot use an algorithm for a call, or nil.
func (ch *Chooser) refuses(c *Signature, a algorithms.Algorithm) error {
	switch {
	case a.Shares && !ch.OneNode && !a.Hosts:
		return fmt.Errorf("%w: %s is for ranks that share memory", gaspi.ErrNotSupported, a.Name)
	case c.Ordered && !a.Ordered:
		return fmt.Errorf("%w: %s does not keep the order of ranks, which the operation needs", gaspi.ErrNotSupported, a.Name)
	case a.Coded && c.Options.Compress.None():
		return fmt.Errorf("%w: %s is for calls with the option Compress", gaspi.ErrNotSupported, a.Name)
	case !a.Coded && !c.Options.Compress.None():
		return fmt.Errorf("%w: %s does not compress, which the option Compress asks for", gaspi.ErrNotSupported, a.Name)
	}
	return nil
}

// whyNone returns the reason why there is no candidate.
func (ch *Chooser) whyNone(c *Signature, want Settings) error {
	if want.Algorithm == "" {
		return fmt.Errorf("%w: no algorithm of %v can do this call", gaspi.ErrNotSupported, c.Op)
	}
	a, err := algorithms.Lookup(c.Op, want.Algorithm)
	if err != nil {
		return fmt.Errorf("%w: %w", gaspi.ErrNotSupported, err)
	}
	if err := ch.refuses(c, a); err != nil {
		return err
	}
	v := Variant{Algorithm: a, Radix: want.Radix, staging: stagingFor(c, a), vectors: 1 + c.Extra}
	return v.fits(&c.Call)
}
