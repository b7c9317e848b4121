package launcher

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"
)

const (
	leftoverPoll     = 5 * time.Millisecond // the system has no event for an empty process group
	leftoverPatience = 2 * time.Second      // for processes to vanish after they were killed
)

// finish ends the processes that ranks have started and left behind, by the signals that end
// the ranks themselves: SIGTERM first, and SIGKILL after the grace.
func (c *crew) finish(hurry <-chan struct{}) {
	for _, r := range c.ranks {
		r.reap()
		c.family.leave(r.pid())
	}
	left := c.leftovers()
	if len(left) == 0 {
		return
	}
	c.log(fmt.Sprintf("ending what the ranks have left running: %v", left))
	if c.grace > 0 && c.endingBy() != syscall.SIGKILL {
		signalEach(left, syscall.SIGTERM)
		signalEach(left, syscall.SIGCONT)
		left = c.awaitLeftovers(c.grace, hurry)
	}
	if len(left) > 0 {
		signalEach(left, syscall.SIGKILL)
		c.awaitLeftovers(leftoverPatience, hurry)
	}
}

// awaitLeftovers waits until nothing is left, for some time or until hurry is
// closed, and returns what is.
func (c *crew) awaitLeftovers(patience time.Duration, hurry <-chan struct{}) []int {
	tick := time.NewTicker(leftoverPoll)
	defer tick.Stop()
	limit := time.After(patience)
	for {
		left := c.leftovers()
		if len(left) == 0 {
			return nil
		}
		select {
		case <-tick.C:
		case <-limit:
			return left
		case <-hurry:
			return left
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
func (c *crew) leftovers() []int {
	groups := map[int]bool{}
	var left []int
	if c.adopt {
		left = c.family.orphans()
	}
	for _, r := range c.ranks {
		// Nobody else can have this number while the group has a member.
		if pid := r.pid(); pid != 0 && syscall.Kill(-pid, 0) == nil {
			groups[pid] = true
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
	if err != nil {
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
