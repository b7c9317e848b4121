package launcher

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/sys"
)

const (
	leftoverPoll     = 5 * time.Millisecond // the system has no event for an empty process group
	leftoverPatience = 2 * time.Second      // for processes to vanish after they were killed
)

// endLeftovers ends the processes that ranks have started and left behind, as
// the ranks themselves are ended: they are told to, and killed after the grace.
func (j *job) endLeftovers() {
	for _, r := range j.ranks {
		r.reap()
	}
	left := j.leftovers()
	if len(left) == 0 {
		return
	}
	j.cfg.Log(fmt.Sprintf("ending what the ranks have left running: %v", left))
	patience := j.cfg.KillGrace
	if j.killed {
		patience = -1
	}
	if patience > 0 {
		signalEach(left, syscall.SIGTERM)
		signalEach(left, syscall.SIGCONT)
		left = j.awaitLeftovers(patience)
	}
	if len(left) > 0 {
		signalEach(left, syscall.SIGKILL)
		j.awaitLeftovers(leftoverPatience)
	}
}

// awaitLeftovers waits until nothing is left, for some time, and returns what
// is. A signal that would end the job cuts the wait short.
func (j *job) awaitLeftovers(patience time.Duration) []int {
	tick := time.NewTicker(leftoverPoll)
	defer tick.Stop()
	limit := time.After(patience)
	for {
		left := j.leftovers()
		if len(left) == 0 {
			return nil
		}
		select {
		case <-tick.C:
		case <-limit:
			return left
		case sig := <-j.signals.channel():
			if endSignals[sig.(syscall.Signal)] != "" {
				return left
			}
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
func (j *job) leftovers() []int {
	j.reapOrphans()
	groups := map[int]bool{}
	for _, r := range j.ranks {
		// Nobody else can have this number while the group has a member.
		if r.exit.PID != 0 && syscall.Kill(-r.exit.PID, 0) == nil {
			groups[r.exit.PID] = true
		}
	}
	var left []int
	if len(groups) > 0 {
		for group := range livingGroups(groups) {
			left = append(left, -group)
		}
	}
	if j.cfg.Foreground {
		for _, pid := range sys.Children() {
			if pid != j.keeper.pid() {
				left = append(left, pid)
			}
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

// reapOrphans takes the remains of adopted processes that have ended.
func (j *job) reapOrphans() {
	if !j.cfg.Foreground {
		return
	}
	known := map[int]bool{j.keeper.pid(): true}
	for _, r := range j.ranks {
		known[r.exit.PID] = true
	}
	for _, pid := range sys.Children() {
		if !known[pid] {
			sys.ReapIfEnded(pid)
		}
	}
}
