package launcher

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/gaspi-go/gaspi-go/internal/boot"
	"github.com/gaspi-go/gaspi-go/internal/near"
)

// socketName is where the launcher of a job tells its user's processes what the ranks do.
func socketName(user int, job string) string { return fmt.Sprintf("@gaspi-run-%d-%s", user, job) }

// jobSockets returns the names of the jobs that launchers of this user, on this host and in this network
// namespace, run now, each with the number of its launcher's socket. Any user may give a socket such a name: one that no
// job can have is left out.
func jobSockets() (map[string]string, error) {
	text, err := os.ReadFile("/proc/net/unix")
	if err != nil {
		return nil, err
	}
	jobs := map[string]string{}
	for line := range strings.Lines(string(text)) {
		head, job, ok := strings.Cut(strings.TrimSpace(line), socketName(os.Geteuid(), ""))
		if fields := strings.Fields(head); ok && len(fields) > 0 && boot.CheckJob(job) == nil {
			jobs[job] = fields[len(fields)-1]
		}
	}
	return jobs, nil
}

// Look returns what the ranks of a job do, which a launcher of this user on this host runs: a line
// that names the cause of waits, and a table. job is the name of the job, or its beginning; empty is
// enough where there is one job.
func Look(ctx context.Context, job string) (string, error) {
	name, err := find(job)
	if err != nil {
		return "", err
	}
	return ask(ctx, name, socketName)
}

// ask returns what the launcher of a job tells at the socket of a name.
func ask(ctx context.Context, job string, name func(user int, job string) string) (string, error) {
	text, err := near.Ask(ctx, name(os.Geteuid(), job))
	if err != nil && ctx.Err() != nil {
		err = errors.New("gaspi-run does not answer; it may be stopped, and goes on after kill -CONT with its pid")
	}
	if err != nil {
		return "", fmt.Errorf("job %s: %w", job, err)
	}
	return text, nil
}

// topName is where the launcher of a job tells its user's processes a JobView.
func topName(user int, job string) string { return fmt.Sprintf("@gaspi-top-%d-%s", user, job) }

// Observe returns what the ranks of a job do, which a launcher of this user on this host runs, without what they
// have done with each peer and in collective operations. job is the name of the job, or its beginning; empty is
// enough where there is one job.
func Observe(ctx context.Context, job string) (JobView, error) {
	name, err := find(job)
	if err != nil {
		return JobView{}, err
	}
	text, err := ask(ctx, name, topName)
	if err != nil {
		return JobView{}, err
	}
	var v JobView
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return JobView{}, fmt.Errorf("job %s tells what this version does not understand: %w", name, err)
	}
	return v, nil
}

// find returns the one job whose name begins so.
func find(job string) (string, error) {
	jobs, err := jobSockets()
	if err != nil {
		return "", err
	}
	maps.DeleteFunc(jobs, func(name, _ string) bool { return !strings.HasPrefix(name, job) })
	found := slices.Sorted(maps.Keys(jobs))
	switch {
	case len(found) == 0 && job == "":
		return "", errors.New("this user runs no job from this host")
	case len(found) == 0:
		return "", fmt.Errorf("this user runs no job %q from this host", job)
	case len(found) > 1:
		for i, name := range found {
			found[i] += startedBy(jobs[name])
		}
		return "", fmt.Errorf("several jobs run: name one of %s", strings.Join(found, ", "))
	}
	return found[0], nil
}

// startedBy returns, in brackets, the process of this user that has the socket of that number, and its command.
func startedBy(socket string) string {
	held, _ := filepath.Glob("/proc/[0-9]*/fd/*")
	for _, path := range held {
		if target, _ := os.Readlink(path); target != "socket:["+socket+"]" {
			continue
		}
		process := strings.Split(path, "/")[2]
		text, _ := os.ReadFile("/proc/" + process + "/cmdline")
		words := strings.FieldsFunc(string(text), func(r rune) bool { return r == ' ' || !unicode.IsPrint(r) })
		return fmt.Sprintf(" (pid %s: %s)", process, strings.Join(words, " "))
	}
	return ""
}
