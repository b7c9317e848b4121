package main

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/ranktest"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
	"github.com/gaspi-go/gaspi-go/launcher"
)

const program = "program" // the role in which the test program is the example itself

func TestMain(m *testing.M) {
	testenv.Main(m, map[string]testenv.Role{program: testenv.Program(main)})
}

// A killer reads what the ranks print and kills those that are to die: the first
// wave when all ranks have begun, the next when all that are left go on.
type killer struct {
	ranks int
	waves [][]int

	mu   sync.Mutex
	pids map[int]int // guarded by mu; by rank
	on   int         // guarded by mu; ranks that go on since the last wave
}

var (
	begun  = regexp.MustCompile(`^\[(\d+)\] process (\d+)\n$`)
	goesOn = regexp.MustCompile(`^\[(\d+)\] step (\d+): (\d+) ranks go on\n$`)
	ended  = regexp.MustCompile(`^\[(\d+)\] step (\d+): the total is (\d+)\n$`)
)

// Write takes whole lines.
func (k *killer) Write(p []byte) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for line := range strings.Lines(string(p)) {
		if m := begun.FindStringSubmatch(line); m != nil {
			k.pids[number(m[1])] = number(m[2])
			if len(k.pids) == k.ranks {
				k.killLocked()
			}
		}
		if goesOn.MatchString(line) {
			if k.on++; k.on == k.ranks {
				k.killLocked()
			}
		}
	}
	return len(p), nil
}

// killLocked kills the ranks of the next wave.
func (k *killer) killLocked() {
	if len(k.waves) == 0 {
		return
	}
	for _, r := range k.waves[0] {
		syscall.Kill(k.pids[r], syscall.SIGKILL)
	}
	k.ranks -= len(k.waves[0])
	k.on, k.waves = 0, k.waves[1:]
}

func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		panic(err)
	}
	return n
}

func TestSurvivorsGoOn(t *testing.T) {
	for _, c := range []struct {
		name  string
		ranks int
		waves [][]int
	}{
		{"nobody", 3, nil},
		{"the last", 4, [][]int{{3}}},
		{"the first", 4, [][]int{{0}}},
		{"two at once", 4, [][]int{{1, 2}}},
		{"one after another", 4, [][]int{{2}, {0}}},
		{"all but one", 3, [][]int{{0}, {1}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel() // much of it is waiting
			const steps = 150
			k := &killer{ranks: c.ranks, waves: c.waves, pids: map[int]int{}}
			args := []string{"--steps", strconv.Itoa(steps), "--work", "5ms"}
			o := ranktest.Run(t, launcher.Config{Ranks: c.ranks, Args: args, Stdout: k, OnFailure: launcher.Continue}, program)
			dead := slices.Concat(c.waves...)
			if code := o.ExitCode; (code != 0) != (len(dead) > 0) || code != 0 && code != 137 || o.Stderr != "" {
				t.Errorf("exit code %d, %s\n%s", code, o.Sentence, o.Stderr)
			}
			if err := checkSurvivors(o.Stdout, c.ranks, dead, steps); err != nil {
				t.Errorf("%v\n%s", err, o.Stdout)
			}
		})
	}
}

// checkSurvivors holds what each survivor printed to what it should have: it
// lost the dead, went on at steps that it printed, and added up accordingly.
func checkSurvivors(text string, ranks int, dead []int, steps int) error {
	for r := range ranks {
		for _, d := range dead {
			if !slices.Contains(dead, r) && !regexp.MustCompile(fmt.Sprintf(`(?m)^\[%d\] step \d+: rank %d is lost$`, r, d)).MatchString(text) {
				return fmt.Errorf("rank %d has not missed rank %d", r, d)
			}
		}
	}
	return checkTotals(text, ranks, dead, steps)
}

// checkTotals is checkSurvivors where some of the dead may have died too late to be missed.
func checkTotals(text string, ranks int, dead []int, steps int) error {
	for r := range ranks {
		if slices.Contains(dead, r) {
			continue
		}
		total, from, sum, found := 0, 0, ranks*(ranks+1)/2, 0
		for line := range strings.Lines(text) {
			if m := goesOn.FindStringSubmatch(line); m != nil && number(m[1]) == r {
				// The members add this much, by the lines before this one.
				total += (number(m[2]) - from) * sum
				from, sum = number(m[2]), sumOfOthers(text[:strings.Index(text, line)], r, ranks)
			}
			if m := ended.FindStringSubmatch(line); m != nil && number(m[1]) == r {
				found++
				if want := total + (steps-from)*sum; number(m[2]) != steps || number(m[3]) != want {
					return fmt.Errorf("rank %d ends with %q, want step %d and total %d", r, line, steps, want)
				}
			}
		}
		if found != 1 {
			return fmt.Errorf("rank %d says %d times that it has ended", r, found)
		}
	}
	return nil
}

// sumOfOthers is what a step adds when rank r has lost those that text says.
func sumOfOthers(text string, r, ranks int) int {
	sum := ranks * (ranks + 1) / 2
	for _, m := range regexp.MustCompile(fmt.Sprintf(`(?m)^\[%d\] step \d+: rank (\d+) is lost$`, r)).FindAllStringSubmatch(text, -1) {
		sum -= 1 + number(m[1])
	}
	return sum
}
