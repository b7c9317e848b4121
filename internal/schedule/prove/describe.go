package prove

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// maxTerms is how many contributions a message lists.
const maxTerms = 8

// noBarrier is what is wrong with a barrier that does not wait for a rank.
func noBarrier(rank int) string {
	return fmt.Sprintf("ends without knowing that rank %d has begun", rank)
}

// differ says what an element holds and what it should hold instead.
func (k *check) differ(have, must foldedValue) string {
	s := "holds " + k.describe(have) + ", not " + k.describe(must)
	if have.seq == poison {
		return s
	}
	a, b := k.terms.flat(nil, have), k.terms.flat(nil, must)
	missing, extra := without(b, a), without(a, b)
	if len(a) == 1 && len(b) == 1 {
		return s
	}
	if len(missing) > 0 {
		s += "; missing " + k.list(missing, ", ")
	}
	if len(extra) > 0 {
		s += "; too many of " + k.list(extra, ", ")
	}
	if len(missing)+len(extra) == 0 {
		s += "; the order is wrong"
	}
	return s
}

// without are the values of a that b does not have, each as often as that.
func without(a, b []foldedValue) []foldedValue {
	count := make(map[foldedValue]int)
	for _, v := range b {
		count[v]++
	}
	return slices.DeleteFunc(slices.Clone(a), func(v foldedValue) bool {
		count[v]--
		return count[v] >= 0
	})
}

// describe is a value for readers.
func (k *check) describe(v foldedValue) string {
	if v.seq == poison {
		return "anything"
	}
	return k.list(k.terms.flat(nil, v), " + ")
}

// list names contributions, some of them if there are many.
func (k *check) list(all []foldedValue, sep string) string {
	var words []string
	for i, v := range all {
		if i == maxTerms {
			words = append(words, fmt.Sprintf("%d more", len(all)-i))
			break
		}
		words = append(words, k.term(v))
	}
	return strings.Join(words, sep)
}

// term is one contribution: whose, of which element, and of which run unless it
// is the present one.
func (k *check) term(v foldedValue) string {
	n := &k.terms.nodes[v.seq]
	if n.kind == 'c' {
		return "a coded form"
	}
	l := n.leaf
	s := fmt.Sprintf("%d[%d]", l.rank, v.delta)
	switch {
	case l.rest:
		s = fmt.Sprintf("what the caller left in %d:%v[%d]", l.rank, schedule.Buffer(l.local), v.delta)
	case l.local > 0:
		s = fmt.Sprintf("%d.%d[%d]", l.rank, l.local, v.delta)
	}
	if int(l.run) != k.run {
		s += fmt.Sprintf(" of run %d", l.run)
	}
	return s
}
