package cluster

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// A Process is one that runs on a host.
type Process struct {
	PID     int    // outside, where the test can signal it
	Inside  int    // on its host
	Command string // its arguments, or its name in brackets
}

// Processes returns what runs on the host and does not belong to it: not its
// first process, not the daemons of SSH and Slurm, and not the sessions of sshd,
// which cannot know that their client was cut off.
func (h *Host) Processes() ([]Process, error) {
	pids, err := h.pids()
	if err != nil {
		return nil, err
	}
	var found []Process
	for _, pid := range pids {
		p := Process{PID: pid, Inside: insidePID(pid), Command: commandOf(pid)}
		// One that has ended since it was found has no number or no name.
		if !h.settled[pid] && p.Inside != 0 && p.Command != "" && !strings.HasPrefix(p.Command, "sshd") {
			found = append(found, p)
		}
	}
	return found, nil
}

// Files returns what is in the private folders of the host, without folders that
// are part of it.
func (h *Host) Files() ([]string, error) {
	var found []string
	root := fmt.Sprintf("/proc/%d/root", h.init.Process.Pid)
	for _, dir := range []string{"/tmp", "/var/tmp", "/dev/shm"} {
		err := filepath.WalkDir(root+dir, func(path string, e fs.DirEntry, err error) error {
			inside := strings.TrimPrefix(path, root)
			switch {
			case os.IsNotExist(err):
				return nil // it has gone meanwhile
			case err != nil:
				return err
			case inside == h.cluster.dir:
				return filepath.SkipDir
			case strings.HasPrefix(h.cluster.dir, inside+"/") || inside == dir:
				return nil
			}
			found = append(found, inside)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// Clean waits until no host has a process or a file that a job left behind, and
// says what there still is when ctx ends.
func (c *Cluster) Clean(ctx context.Context) error {
	for {
		left, err := c.left()
		if err != nil || left == "" {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("left behind: %s", left)
		case <-time.After(20 * time.Millisecond): // there is no event for an empty host
		}
	}
}

func (c *Cluster) left() (string, error) {
	var left []string
	for _, h := range c.all() {
		processes, err := h.Processes()
		if err != nil {
			return "", err
		}
		for _, p := range processes {
			left = append(left, fmt.Sprintf("%s: process %d (%s)", h.Name, p.Inside, p.Command))
		}
		files, err := h.Files()
		if err != nil {
			return "", err
		}
		for _, f := range files {
			left = append(left, fmt.Sprintf("%s: file %s", h.Name, f))
		}
	}
	return strings.Join(left, "; "), nil
}

// settle takes what runs now for the hosts' own.
func (c *Cluster) settle() error {
	for _, h := range c.all() {
		pids, err := h.pids()
		if err != nil {
			return err
		}
		h.settled = map[int]bool{}
		for _, pid := range pids {
			h.settled[pid] = true
		}
	}
	return nil
}

// pids returns the processes in the host's namespace, as numbered outside.
func (h *Host) pids() ([]int, error) {
	own, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/pid", h.init.Process.Pid))
	if err != nil {
		return nil, fmt.Errorf("host %s has ended: %w", h.Name, err)
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	var found []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if space, err := os.Readlink("/proc/" + e.Name() + "/ns/pid"); err == nil && space == own {
			found = append(found, pid)
		}
	}
	return found, nil
}

// insidePID returns the number of a process in its own namespace, or 0.
func insidePID(pid int) int {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "NSpid:"); ok {
			fields := strings.Fields(rest)
			inside, _ := strconv.Atoi(fields[len(fields)-1])
			return inside
		}
	}
	return 0
}

// commandOf returns the command line of a process, or its name if it has none.
func commandOf(pid int) string {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if words := strings.TrimSpace(string(bytes.ReplaceAll(text, []byte{0}, []byte{' '}))); words != "" {
		return words
	}
	name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	if err != nil {
		return ""
	}
	return "[" + strings.TrimSpace(string(name)) + "]"
}
