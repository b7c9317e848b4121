package supervise

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/sys"
)

// leftoverPoll is how often leftovers are looked for: the system has no event for an empty process
// group.
const leftoverPoll = 5 * time.Millisecond

// LeftoverPatience is how long processes may take to vanish after they were killed.
const LeftoverPatience = 2 * time.Second

// Finish ends the processes that ranks have started and left behind, by the signals that end
// the ranks themselves: SIGTERM first, and SIGKILL after the grace. All ranks have ended before. It
// returns when nothing is left, or early when hurry is closed.
func (a *Ranks) Finish(hurry <-chan struct{}) {
	for _, r := range a.ranks {
		r.reap()
		a.task.Children.Leave(r.pid())
	}
	left := a.leftovers()
	if len(left) == 0 {
		return
	}
	a.keeper.narrow(left)
	a.task.Log(fmt.Sprintf("ending what the ranks have left running: %v", left))
	if a.task.Grace > 0 && a.endingBy() != syscall.SIGKILL {
		signalEach(left, syscall.SIGTERM)
		signalEach(left, syscall.SIGCONT)
		left = a.awaitLeftovers(a.task.Grace, hurry)
	}
	if len(left) > 0 {
		signalEach(left, syscall.SIGKILL)
		a.awaitLeftovers(LeftoverPatience, hurry)
	}
}

// awaitLeftovers waits until nothing is left, for some time or until hurry is
// closed, and returns what is left then.
func (a *Ranks) awaitLeftovers(patience time.Duration, hurry <-chan struct{}) []int {
	tick := time.NewTicker(leftoverPoll)
	defer tick.Stop()
	limit := time.After(patience)
	for {
		left := a.leftovers()
		a.keeper.narrow(left)
		if len(left) == 0 {
			return nil
		}
		select {
		case <-tick.C:
		case <-limit:
			return a.leftovers()
		case <-hurry:
			return a.leftovers()
		}
	}
}

func signalEach(targets []int, sig syscall.Signal) {
	for _, t := range targets {
		syscall.Kill(t, sig)
	}
}

// leftovers returns what is left of the ranks that have ended, as kill(2) wants
// it: process groups (negative), and adopted processes that left their group.
func (a *Ranks) leftovers() []int {
	groups := map[int]bool{}
	var left []int
	if a.task.Adopt {
		left = a.task.Children.orphans()
	}
	for _, r := range a.ranks {
		if group := r.leftGroup(); group != 0 {
			groups[group] = true
		}
	}
	if len(groups) > 0 {
		for group := range livingGroups(groups) {
			left = append(left, -group)
		}
	}
	return left
}

// livingGroups returns those groups that have a member other than a zombie:
// where the first process of the system does not reap, zombies never go.
func livingGroups(groups map[int]bool) map[int]bool {
	living := map[int]bool{}
	entries, err := os.ReadDir("/proc")
	if err != nil || !sys.OwnProc() { // which has the numbers of another PID namespace
		return groups
	}
	for _, e := range entries {
		if _, err := strconv.Atoi(e.Name()); err != nil {
			continue
		}
		stat, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err != nil {
			continue
		}
		state, group := parseStat(stat)
		if groups[group] && state != 'Z' && state != 'X' {
			living[group] = true
		}
	}
	return living
}

// parseStat reads the state and the process group out of /proc/PID/stat. The
// name of the program before them may contain anything, even parentheses.
func parseStat(stat []byte) (state byte, group int) {
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 3 || len(fields[0]) != 1 {
		return 0, 0
	}
	group, _ = strconv.Atoi(string(fields[2]))
	return fields[0][0], group
}
