package main

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/gaspi-go/gaspi-go/launcher"
)

// A tcpLink is what two ranks have measured of the TCP connections between them.
type tcpLink struct {
	a, b  launcher.Rank // a is the lower
	hosts [2]string

	samples                  uint64
	minRTT, meanRTT, highRTT time.Duration // 0 without samples
	bytes, segments, resent  uint64        // sent by both, or acknowledged to them
	rate                     uint64        // bytes per second of the fastest delivery
	busy                     time.Duration // of the busier side
	mark                     string        // why it is slow; empty if it is not
}

// linksOf joins what both ends of each link have measured, in the order of ranks.
func linksOf(measured []launcher.RankMeasures) []tcpLink {
	found := map[[2]launcher.Rank]*tcpLink{}
	for _, r := range measured {
		for _, m := range r.Links {
			a, b := min(r.Rank, m.Peer), max(r.Rank, m.Peer)
			if int(b) >= len(measured) || a == b {
				continue
			}
			l := found[[2]launcher.Rank{a, b}]
			if l == nil {
				l = &tcpLink{a: a, b: b, hosts: [2]string{measured[a].Host, measured[b].Host}}
				found[[2]launcher.Rank{a, b}] = l
			}
			l.add(m)
		}
	}
	var all []tcpLink
	for _, l := range found {
		all = append(all, *l)
	}
	slices.SortFunc(all, func(x, y tcpLink) int { return cmp.Or(cmp.Compare(x.a, y.a), cmp.Compare(x.b, y.b)) })
	return all
}

// add takes what one end has measured.
func (l *tcpLink) add(m launcher.RankLink) {
	if m.MinRTT > 0 && (l.minRTT == 0 || m.MinRTT < l.minRTT) {
		l.minRTT = m.MinRTT
	}
	if n := l.samples + m.Samples; n > 0 {
		l.meanRTT = time.Duration((float64(l.meanRTT)*float64(l.samples) + float64(m.MeanRTT)*float64(m.Samples)) / float64(n))
		l.samples = n
	}
	l.highRTT = max(l.highRTT, m.HighRTT)
	l.bytes += m.Acked
	l.segments += m.Segments
	l.resent += m.Resent
	l.rate = max(l.rate, m.Rate)
	l.busy = max(l.busy, m.Busy)
}

// inside reports whether both ranks are on one host.
func (l tcpLink) inside() bool { return l.hosts[0] == l.hosts[1] }

// A link is slow with a round trip that is so many times as long as is typical of links of its kind, within a
// host or between hosts, and longer by more than a wake-up costs; with such a part of segments that were sent
// again, of enough to be no accident; or if it was busy for so many times as long as is typical, and a
// noticeable part of the run, without carrying much more than others.
const (
	manyTimes    = 3
	longerBy     = 200 * time.Microsecond
	manyResent   = 0.01
	enoughResent = 10
)

// marked returns the links that are slow among the others of their kind, those that were busy for longer
// first. ran is for how long the job ran.
func marked(links []tcpLink, ran time.Duration) []tcpLink {
	var slow []tcpLink
	for _, inside := range []bool{false, true} {
		kind := slices.DeleteFunc(slices.Clone(links), func(l tcpLink) bool { return l.inside() != inside || l.samples == 0 })
		if len(kind) == 0 {
			continue
		}
		typical := tcpLink{
			meanRTT: lowerMedian(kind, func(l tcpLink) time.Duration { return l.meanRTT }),
			busy:    lowerMedian(kind, func(l tcpLink) time.Duration { return l.busy }),
			bytes:   lowerMedian(kind, func(l tcpLink) uint64 { return l.bytes }),
		}
		for _, l := range kind {
			if l.mark = l.slower(typical, ran); l.mark != "" {
				slow = append(slow, l)
			}
		}
	}
	slices.SortStableFunc(slow, func(x, y tcpLink) int {
		return cmp.Or(cmp.Compare(y.busy, x.busy), cmp.Compare(y.meanRTT, x.meanRTT))
	})
	return slow
}

// slower says why the link is slow, nothing if it is not.
func (l tcpLink) slower(typical tcpLink, ran time.Duration) string {
	switch {
	case l.meanRTT >= manyTimes*typical.meanRTT && l.meanRTT-typical.meanRTT >= longerBy:
		return fmt.Sprintf("has a round trip of %v, where %v is typical", round(l.meanRTT), round(typical.meanRTT))
	case l.resent >= enoughResent && float64(l.resent) >= manyResent*float64(l.segments):
		return fmt.Sprintf("sent %s of %d segments again", percent(float64(l.resent)/float64(l.segments)), l.segments)
	case l.busy > manyTimes*typical.busy && float64(l.busy) >= noticeable*float64(ran) && l.bytes <= manyTimes*typical.bytes:
		return fmt.Sprintf("was busy for %v with %s, where %v is typical", round(l.busy), size(l.bytes), round(typical.busy))
	}
	return ""
}
