package launcher

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/gaspi-go/gaspi-go/internal/near"
)

// socketName is where the launcher of a job tells its user's processes what the ranks do.
func socketName(user int, job string) string { return fmt.Sprintf("@gaspi-run-%d-%s", user, job) }

// Jobs returns the names of the jobs that launchers of this user, on this host and in this network
// namespace, run now.
func Jobs() ([]string, error) {
	text, err := os.ReadFile("/proc/net/unix")
	if err != nil {
		return nil, err
	}
	var jobs []string
	for line := range strings.Lines(string(text)) {
		_, job, ok := strings.Cut(strings.TrimSpace(line), socketName(os.Geteuid(), ""))
		if ok && !slices.Contains(jobs, job) {
			jobs = append(jobs, job)
		}
	}
	slices.Sort(jobs)
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
	return near.Ask(ctx, socketName(os.Geteuid(), name))
}

// find returns the one job whose name begins so.
func find(job string) (string, error) {
	jobs, err := Jobs()
	if err != nil {
		return "", err
	}
	found := slices.DeleteFunc(jobs, func(name string) bool { return !strings.HasPrefix(name, job) })
	switch {
	case len(found) == 0 && job == "":
		return "", errors.New("this user runs no job from this host")
	case len(found) == 0:
		return "", fmt.Errorf("this user runs no job %q from this host", job)
	case len(found) > 1:
		return "", fmt.Errorf("several jobs run: name one of %s", strings.Join(found, ", "))
	}
	return found[0], nil
}
