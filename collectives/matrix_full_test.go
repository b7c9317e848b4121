package collectives_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/collectives/algorithms"
	"github.com/gaspi-go/gaspi-go/collectives/schedule"
)

const (
	envMatrix = "GASPI_TEST_MATRIX" // "full": all cells instead of a sample
	envShard  = "GASPI_TEST_SHARD"  // "2/5": the third of five parts of them
)

// A lister lists the cells of the matrix for a number of ranks. What is not crossed
// with the rest is taken in turns.
type lister struct {
	ranks int
	turn  int
	all   []*instance
}

// cells are two products for a number of ranks, by every algorithm: of lengths with
// roots, places, memory and segments, and of lengths with types and operations.
func cells(ranks int) []*instance {
	l := &lister{ranks: ranks}
	for _, a := range algorithms.All() {
		kinds := movedKinds()
		if a.Op.Reduces() {
			kinds = reductionKinds()
		}
		for _, count := range l.counts() {
			l.places(a, count, kinds)
			for _, k := range kinds {
				x := l.instance(a, count, k)
				x.memory = memory(l.turn % int(memories))
				x.cut = cutsOf(count)[l.turn%5]
				if a.Op.Rooted() {
					x.root = l.turn / 7 % ranks
				}
				l.add(x, l.turn%2 == 0)
			}
		}
	}
	return l.all
}

// counts are the lengths, each once.
func (l *lister) counts() []int {
	k := 256
	if l.ranks > 9 {
		k = 64
	}
	var all []int
	seen := make(map[int]bool)
	for _, n := range counts(l.ranks, k) {
		if !seen[n] {
			all = append(all, n)
		}
		seen[n] = true
	}
	return all
}

// places crosses what is not the type.
func (l *lister) places(a algorithms.Algorithm, count int, kinds []kind) {
	roots := 1
	if a.Op.Rooted() {
		roots = l.ranks
	}
	for root := range roots {
		for _, inPlace := range []bool{false, true} {
			for at := range memories {
				for _, cut := range cutsOf(count) {
					x := l.instance(a, count, kinds[l.turn%len(kinds)])
					x.root, x.memory, x.cut = root, at, cut
					l.add(x, inPlace)
				}
			}
		}
	}
}

// instance has what goes in turns.
func (l *lister) instance(a algorithms.Algorithm, count int, k kind) *instance {
	l.turn++
	return &instance{
		seed: uint64(l.turn) * 0x9e3779b97f4a7c15, ranks: l.ranks, op: a.Op, algorithm: a.Name, kind: k, count: count,
		mode: mode(l.turn % int(modes)), shift: l.turn % 8, vectors: 1, rounds: 2, radix: []int{0, 0, 2, 3, 4, 5, 9}[l.turn%7],
	}
}

// add takes an instance in if it can be.
func (l *lister) add(x *instance, inPlace bool) {
	x.inPlace = x.placed(inPlace)
	x.uneven = x.mayBeUneven() && l.turn%3 == 0
	if _, isFunction := x.kind.(interface{ isFunction() }); x.op == schedule.AllReduce && x.inPlace && !isFunction && l.turn%5 == 0 {
		x.vectors = 2
	}
	if x.fits() {
		l.all = append(l.all, x)
	}
}

// shard says which of how many parts of the matrix are to run.
func shard() (part, parts int, err error) {
	text := os.Getenv(envShard)
	if text == "" {
		return 0, 1, nil
	}
	if n, err := fmt.Sscanf(text, "%d/%d", &part, &parts); n != 2 || err != nil || part < 0 || part >= parts {
		return 0, 0, fmt.Errorf("%s is %q; want a part of the matrix, such as 0/4", envShard, text)
	}
	return part, parts, nil
}

// fullMatrix runs all cells, a few thousand on a team.
func fullMatrix(t *testing.T) {
	const batch = 2000
	part, parts, err := shard()
	if err != nil {
		t.Fatal(err)
	}
	for _, ranks := range sizes() {
		t.Run(fmt.Sprintf("%dranks", ranks), func(t *testing.T) {
			all := cells(ranks)
			start := time.Now()
			ran := 0
			for from := 0; from < len(all); from += batch {
				instances(t, ranks, collectives.Config{}, func(m *member, run func(int, *instance) error) error {
					for i := from; i < min(from+batch, len(all)); i++ {
						if i%parts != part {
							continue
						}
						if m.rank == 0 {
							ran++
						}
						if err := run(i, all[i]); err != nil {
							return err
						}
					}
					return nil
				})
			}
			t.Logf("%d of %d cells in %v", ran, len(all), time.Since(start).Round(time.Second))
		})
	}
}

// isFull reports whether all cells are to run.
func isFull(t *testing.T) bool {
	t.Helper()
	text := os.Getenv(envMatrix)
	if text != "" && !strings.EqualFold(text, "full") {
		t.Fatalf("%s is %q; want nothing or full", envMatrix, text)
	}
	return text != ""
}
