package main

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/gaspi-go/gaspi-go/launcher"
)

// This file says why ranks were slow. All of it is pure.
//
// The straggler is the rank that was busy for the longest, where busy is what is left of its time
// without its waits. The time by which it was longer busy than is typical of the others, the excess, held
// these up; the time that the straggler itself waited cannot have been for a busier rank, and is charged to
// the network. The larger of the two decides, if it is noticeable:
//
//   - The excess is charged to the processor as far as the straggler would have been less busy with the
//     share of the processor that is typical of the others, and to computation as far as it would have been
//     longer busy all the same. Both add up to the excess. Where all ranks are short of processors, and the
//     straggler had none for longer than the excess, that is why they are slow, however they differ.
//   - Waits are charged to the link that is slow among those of its kind, if there is one.
//
// Typical is the lower median, of two ranks that of the other one.

const (
	// noticeable is the part of a rank's time from which on something makes it slow.
	noticeable = 0.1
	// starved is the part of the time in which ranks want a processor from which on they all are short of
	// it: a rank that shares its core with another half of the time has twice as much.
	starved = 0.25
)

// A cause is what makes ranks slow.
type cause string

const (
	causeNetwork     cause = "network"
	causeProcessor   cause = "processor"
	causeComputation cause = "computation"
	causeNone        cause = "none" // nothing stands out
)

// A diagnosis says why ranks were slow.
type diagnosis struct {
	Cause    cause           `json:"cause"`
	Ranks    []launcher.Rank `json:"ranks,omitempty"` // the rank, or the two of a link; none if it is all
	Sentence string          `json:"sentence"`
}

// A load is what a rank did with its time.
type load struct {
	launcher.RankStats
	short float64 // the part of the time in which its threads could run that they had no processor
}

// loads joins what ranks told of their calls and of their processors. Those that told nothing are left out.
func loads(ranks []launcher.RankStats, measured []launcher.RankMeasures) (all []load) {
	for i, r := range ranks {
		if r.Ran == 0 {
			continue
		}
		r.Waited = min(r.Waited, r.Ran) // of several goroutines
		l := load{RankStats: r}
		if m := measured[i]; m.CPU+m.Delayed > 0 && !m.NoDelays {
			l.short = float64(m.Delayed) / float64(m.CPU+m.Delayed)
		}
		all = append(all, l)
	}
	return all
}

// judge says why ranks were slow.
func judge(ranks []launcher.RankStats, measured []launcher.RankMeasures) diagnosis {
	all := loads(ranks, measured)
	if len(all) == 0 {
		return diagnosis{causeNone, nil, "no rank was there for long enough to tell anything"}
	}
	slow := 0
	for i, l := range all {
		if l.Busy() > all[slow].Busy() {
			slow = i
		}
	}
	straggler, others := all[slow], slices.Delete(slices.Clone(all), slow, slow+1)
	typical, excess := straggler, time.Duration(0)
	if len(others) > 0 {
		typical.Ran, typical.Waited = lowerMedian(others, func(l load) time.Duration { return l.Busy() }), 0
		typical.short = lowerMedian(others, func(l load) float64 { return l.short })
		excess = straggler.Busy() - typical.Busy()
	}
	enough := time.Duration(noticeable * float64(straggler.Ran))
	links := linksOf(measured)
	short := lowerMedian(all, func(l load) float64 { return l.short })
	switch {
	case excess >= max(enough, 1) && excess >= straggler.Waited:
		return blameRank(straggler, typical, excess, short)
	case straggler.Waited >= max(enough, 1) && len(marked(links, straggler.Ran)) > 0:
		return blameLink(marked(links, straggler.Ran), straggler)
	case excess >= max(enough, 1):
		return blameRank(straggler, typical, excess, short)
	case short >= starved:
		return blameAll(short)
	}
	if straggler.Waited >= max(enough, 1) {
		sentence := fmt.Sprintf("no rank was busy for longer than others, and each waited for %s of its time or more", share(straggler.Waited, straggler.Ran))
		if len(links) == 0 {
			return diagnosis{causeNone, nil, sentence + "; no TCP connections were used"}
		}
		return diagnosis{causeNetwork, nil, sentence + "; no link is slower than others"}
	}
	return diagnosis{causeNone, nil, fmt.Sprintf("nothing made ranks slow but their own work: none waited for less than %s of its time, and all were busy for as long", share(straggler.Waited, straggler.Ran))}
}

// blameAll says that ranks are short of processors, as is typical of them.
func blameAll(short float64) diagnosis {
	return diagnosis{causeProcessor, nil, fmt.Sprintf(
		"slow because of processors: ranks had none for %s of the time in which they could run, all alike; there is more to run than cores", percent(short))}
}

// blameRank says why a rank was busy for longer than the others, by the excess, where ranks are typically short
// of a processor for a part of the time in which they could run.
func blameRank(straggler, typical load, excess time.Duration, short float64) diagnosis {
	who := fmt.Sprintf("rank %d (%s)", straggler.Rank, straggler.Host)
	worked := float64(straggler.Busy()) * (1 - straggler.short) // it had a processor
	expected := worked / max(1-typical.short, 1e-9)             // of its busy time, if it had got as much of a processor
	byProcessor := float64(straggler.Busy()) - expected         // negative if it got more
	byComputation := expected - float64(typical.Busy())         // both add up to the excess
	if byProcessor > byComputation {
		return diagnosis{causeProcessor, []launcher.Rank{straggler.Rank}, fmt.Sprintf(
			"slow because of the processor: %s had none for %s of the time in which it could run, where %s is typical, and was busy for %v, where %v is typical",
			who, percent(straggler.short), percent(typical.short), round(straggler.Busy()), round(typical.Busy()))}
	}
	if short >= starved && straggler.short*float64(straggler.Busy()) > float64(excess) {
		return blameAll(short)
	}
	return diagnosis{causeComputation, []launcher.Rank{straggler.Rank}, fmt.Sprintf(
		"slow because of computation: %s was busy for %v outside of waits, where %v is typical; the others waited for it", who, round(straggler.Busy()), round(typical.Busy()))}
}

// blameLink says which link made ranks wait. links are those that are slow, the worst first.
func blameLink(links []tcpLink, straggler load) diagnosis {
	worst := links[0]
	sentence := fmt.Sprintf("slow because of the network: the link of rank %d (%s) with rank %d (%s) %s; no rank waited for less than %s of its time",
		worst.a, worst.hosts[0], worst.b, worst.hosts[1], worst.mark, share(straggler.Waited, straggler.Ran))
	if len(links) > 1 {
		sentence += fmt.Sprintf("; %d links are slow%s", len(links), common(links))
	}
	return diagnosis{causeNetwork, []launcher.Rank{worst.a, worst.b}, sentence}
}

// common says which hosts several links have in common.
func common(links []tcpLink) string {
	shared := links[0].hosts[:]
	for _, l := range links[1:] {
		shared = slices.DeleteFunc(slices.Clone(shared), func(host string) bool { return !slices.Contains(l.hosts[:], host) })
	}
	switch {
	case len(shared) == 2 && shared[0] != shared[1]:
		return fmt.Sprintf(", all between %s and %s", shared[0], shared[1])
	case len(shared) > 0:
		return ", all of " + shared[0]
	}
	return ""
}

// lowerMedian is the lower median of a value of things, of which there is at least one.
func lowerMedian[T any, V cmp.Ordered](all []T, value func(T) V) V {
	var values []V
	for _, x := range all {
		values = append(values, value(x))
	}
	slices.Sort(values)
	return values[(len(values)-1)/2]
}

// share is a part of a time in words.
func share(part, whole time.Duration) string {
	return percent(float64(part) / float64(max(whole, 1)))
}

func percent(part float64) string { return fmt.Sprintf("%.0f %%", 100*part) }
