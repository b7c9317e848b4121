package collectives_test

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/algorithms"
)

const (
	envMatrix = "GASPI_TEST_MATRIX" // "full": all cells instead of a sample
	envShard  = "GASPI_TEST_SHARD"  // "2/5": the third of five parts of them
)

// A lister lists the cells of the matrix for a number of ranks. Dimensions that are not crossed
// with the rest take their values in turn.
type lister struct {
	ranks int
	turn  int
	all   []*instance
}

// cells are two products for a number of ranks, by every algorithm: of lengths with
// roots, places, memory and segments, and of lengths with types and operations; and
// blocks of skewed lengths, which are drawn.
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
	d := newDealer(uint64(ranks), 1<<20)
	for _, op := range schedule.Operations() {
		for _, a := range append(algorithms.For(op), algorithms.Algorithm{}) {
			for range skewedCells {
				if op.Blockwise() {
					l.all = append(l.all, d.drawSkewed(ranks, op, a.Name))
				}
			}
		}
	}
	return l.all
}

// skewedCells are how many cells with long blocks beside short ones there are of each
// algorithm.
const skewedCells = 24

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
	if x.op == schedule.AllReduce && x.inPlace && !x.kind.function && l.turn%5 == 0 {
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

// batch is how many cells run on a team, one after the other, at most.
const batch = 2000

// numbered is a cell with its number among all of its number of ranks, which is
// the same in all shards.
type numbered struct {
	*instance
	number int
}

// fullMatrix runs all cells of a shard, a few thousand on a team, and teams beside
// each other.
func fullMatrix(t *testing.T) {
	part, parts, err := shard()
	if err != nil {
		t.Fatal(err)
	}
	// Plans by the million, and a list of cells to look through each time: a third of the
	// time at 100, while more than this only makes caches cold.
	const garbage = 400
	defer debug.SetGCPercent(debug.SetGCPercent(garbage))
	for _, ranks := range sizes() {
		t.Run(fmt.Sprintf("%dranks", ranks), func(t *testing.T) {
			var all []numbered
			for i, x := range cells(ranks) {
				if i%parts == part {
					all = append(all, numbered{x, i})
				}
			}
			start := time.Now()
			teams := teamsAtOnce(ranks)
			todo := make(chan []numbered)
			var ran atomic.Int64
			var workers sync.WaitGroup
			for range teams {
				workers.Go(func() {
					for cells := range todo {
						ran.Add(int64(runBatch(t, ranks, cells)))
					}
				})
			}
			for cells := range slices.Chunk(all, max(1, min(batch, (len(all)+teams-1)/teams))) {
				todo <- cells
			}
			close(todo)
			workers.Wait()
			t.Logf("%d of %d cells in %v", ran.Load(), len(all), time.Since(start).Round(time.Second))
		})
	}
}

// runBatch runs cells on a team of its own and returns how many ended.
func runBatch(t *testing.T, ranks int, all []numbered) (ran int) {
	instances(t, ranks, collectives.Config{}, func(m *member, run func(int, *instance) error) error {
		for _, x := range all {
			if err := run(x.number, x.instance); err != nil {
				return err
			}
			if m.rank == 0 {
				ran++
			}
		}
		return nil
	})
	return ran
}

// teamsAtOnce is how many teams run beside each other. The ranks of a small one
// mostly wait for each other; one of more than eight keeps two processors busy.
func teamsAtOnce(ranks int) int {
	cores := runtime.GOMAXPROCS(0)
	if ranks <= 8 {
		return cores + 1
	}
	return max(1, cores/2)
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
