package faults

import (
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// envTime says for how long TestMatrix goes on, envCell which single cell it runs, envOnly
// which combinations it keeps to, and envSeed where it begins.
const (
	envTime = "GASPI_TEST_FAULTS"
	envCell = "GASPI_TEST_CELL"
	envOnly = "GASPI_TEST_ONLY"
	envSeed = "GASPI_TEST_SEED"
)

// seedOf is where a test begins: what the environment says, or a random number.
func seedOf(t *testing.T) uint64 {
	t.Helper()
	seed := rand.Uint64() >> 1
	if text := os.Getenv(envSeed); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("%s: %v", envSeed, err)
		}
	}
	t.Logf("%s=%d", envSeed, seed)
	return seed
}

// TestMatrix runs cells for some seconds, in an order that goes through all combinations of
// calls, faults and wires. GASPI_TEST_FAULTS=10m goes on for so long, GASPI_TEST_SEED says
// where it begins, GASPI_TEST_ONLY='Shrink, .*cut, tcp' keeps to combinations that match, and
// GASPI_TEST_CELL runs one cell again.
func TestMatrix(t *testing.T) {
	t.Setenv("GASPI_HEARTBEAT", silence.String()) // of which agreements take account
	table := rows()
	all := combinations(table)
	if text := os.Getenv(envCell); text != "" {
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatalf("%s: %v", envCell, err)
		}
		tryCell(t, drawCell(all, seed))
		return
	}
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // each cell is a new job: a third of the time
	until, keep := time.Now().Add(timeOf(t)), onlyOf(t, all)
	var next, calls sync.Mutex
	seed, cells, ended := seedOf(t), 0, 0
	first := seed
	draw := func() (uint64, bool) {
		next.Lock()
		defer next.Unlock()
		if time.Now().After(until) {
			return 0, false
		}
		for seed++; !keep(seed); seed++ {
		}
		cells++
		return seed, true
	}
	begin := time.Now()
	t.Run("cells", func(t *testing.T) {
		for i := range runtime.GOMAXPROCS(0) {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				for failed := 0; failed < mostFailures; {
					seed, ok := draw()
					if !ok {
						return
					}
					n, right := tryCell(t, drawCell(all, seed))
					if !right {
						failed++
					}
					calls.Lock()
					ended += n
					calls.Unlock()
				}
			})
		}
	})
	t.Logf("%d cells of %d combinations from seed %d on: %d calls, %.0f cells a second", cells, len(all), first, ended, float64(cells)/time.Since(begin).Seconds())
}

// onlyOf reports of a seed whether the combination of its cell is one that TestMatrix keeps to.
func onlyOf(t *testing.T, all []combination) func(seed uint64) bool {
	t.Helper()
	only, err := regexp.Compile(os.Getenv(envOnly))
	if err != nil {
		t.Fatalf("%s: %v", envOnly, err)
	}
	kept := make([]bool, len(all))
	for i, x := range all {
		kept[i] = only.MatchString(fmt.Sprintf("%v, %s, %s", x.row, x.fault, x.wires))
	}
	if !slices.Contains(kept, true) {
		t.Fatalf("%s: no combination matches", envOnly)
	}
	return func(seed uint64) bool { return kept[seed%uint64(len(kept))] }
}

// timeOf is how long TestMatrix takes.
func timeOf(t *testing.T) time.Duration {
	t.Helper()
	text := os.Getenv(envTime)
	if text == "" {
		return 3 * time.Second
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatalf("%s: %v", envTime, err)
	}
	return d
}

// mostFailures is after how many a test gives up.
const mostFailures = 20

// tryCell runs a cell and returns how many calls ended, and whether all was right.
func tryCell(t *testing.T, c *cell) (calls int, right bool) {
	t.Helper()
	x := c.run(t)
	if len(x.wrong) > 0 {
		t.Errorf("%v\n\t%s", c, strings.Join(x.wrong, "\n\t"))
	}
	return x.ended, len(x.wrong) == 0
}
