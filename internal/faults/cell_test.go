package faults

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/algorithms"
)

// A cell is a call and a fault in a job, all of it drawn from a seed.
type cell struct {
	job
	row     *row
	wires   string
	seed    uint64
	members []int // index is the rank: which group it is in
	shift   int
	count   int
	forced  string // algorithms, as collectives.Config takes them
	warm    int    // calls before the fault may come
	after   bool   // the first call comes when the fault is known
}

// String is what is needed to see it again.
func (c *cell) String() string {
	return fmt.Sprintf("GASPI_TEST_CELL=%d: %v, %s, %s: ranks on hosts %v, groups %v, rank %d (other end %d), %d elements, shift %d, warm %d, after %v, algorithms %q",
		c.seed, c.row, c.fault, c.wires, c.hosts, c.members, c.victim, c.other, c.count, c.shift, c.warm, c.after, c.forced)
}

// A combination is a call, a fault, and how ranks are connected.
type combination struct {
	row   *row
	fault faultKind
	wires string
}

// combinations are all that there are.
func combinations(rows []row) []combination {
	var all []combination
	for i := range rows {
		for _, wires := range []string{"shm", "tcp", "mixed"} {
			for _, f := range faultsOf(wires) {
				if x := &rows[i]; x.faults == nil || slices.Contains(x.faults, f) {
					all = append(all, combination{x, f, wires})
				}
			}
		}
	}
	return all
}

// drawCell draws the cell of a seed: seeds in succession go through all combinations.
func drawCell(all []combination, seed uint64) *cell {
	draw := rand.New(rand.NewPCG(seed, 2))
	x := all[seed%uint64(len(all))]
	c := &cell{job: job{fault: x.fault}, row: x.row, wires: x.wires, seed: seed}
	ranks := 2 + min(draw.IntN(8), draw.IntN(8)) // more of the small jobs, which are quick
	if x.wires == "mixed" {
		ranks = max(ranks, 3)
	}
	hosts := map[string]int{"shm": 1, "tcp": ranks, "mixed": 2 + draw.IntN(max(1, ranks/2))}[x.wires]
	for r := range ranks {
		c.hosts = append(c.hosts, r%hosts)
	}
	draw.Shuffle(ranks, func(i, j int) { c.hosts[i], c.hosts[j] = c.hosts[j], c.hosts[i] })
	c.victim = gaspi.Rank(draw.IntN(ranks))
	for c.other = c.victim; hosts > 1 && c.hosts[c.other] == c.hosts[c.victim]; {
		c.other = gaspi.Rank(draw.IntN(ranks))
	}
	c.members = drawGroups(draw, ranks)
	c.count = []int{1, 5, 100, 1000}[draw.IntN(4)]
	c.shift = 1 + draw.IntN(3)
	c.warm, c.after = draw.IntN(3), draw.IntN(4) == 0
	c.forced = drawAlgorithms(draw, hosts == 1)
	return c
}

// drawGroups are all ranks in one group, two groups at random, or the rows or columns of a
// grid.
func drawGroups(draw *rand.Rand, ranks int) []int {
	groups := make([]int, ranks)
	width := 2 + draw.IntN(2)
	switch draw.IntN(4) {
	case 1:
		for r := range groups {
			groups[r] = draw.IntN(2)
		}
	case 2:
		for r := range groups {
			groups[r] = r / width
		}
	case 3:
		for r := range groups {
			groups[r] = r % width
		}
	}
	return groups
}

// drawAlgorithms forces an algorithm that every call of its operation can use, one for each
// operation, or none: also those that the model would not choose meet faults, and nothing is
// predicted. On one host it may be one that shares memory.
func drawAlgorithms(draw *rand.Rand, shared bool) string {
	var forced []string
	for _, op := range schedule.Operations() {
		names := []string{""}
		for _, a := range algorithms.For(op) {
			general := (a.Ordered || !op.Reduces()) && a.Fits == nil && !a.Coded && !a.Hosts
			if general && (shared || !a.Shares) {
				names = append(names, a.Name)
			}
		}
		if name := names[draw.IntN(len(names))]; name != "" {
			forced = append(forced, fmt.Sprintf("%v:%s", op, name))
		}
	}
	return strings.Join(forced, ",")
}
