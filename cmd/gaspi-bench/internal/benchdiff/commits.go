package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/subprocess"
)

// A commit is one of the two that are compared, or a gaspi-bench that was built already.
type commit struct {
	hash, subject string
	program       string // path of the file; empty for a commit
}

// String is a commit in a line.
func (c commit) String() string {
	if c.program != "" {
		return "program " + c.program
	}
	return c.hash[:min(12, len(c.hash))] + " " + c.subject
}

// built returns the program that a name with a slash leads to, and whether it is a file that can be executed.
func built(name string) (path string, ok bool) {
	info, err := os.Stat(name)
	if err != nil || !strings.Contains(name, "/") || !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
		return "", false
	}
	path, err = filepath.Abs(name)
	return path, err == nil
}

// commits finds the two commits. It refuses a working tree with changes where one of the
// commits is the one that is checked out: its changes would not be measured. Two programs
// need neither git nor a repository.
func (o *commandLine) commits(ctx context.Context) (both [2]commit, err error) {
	names := [2]string{o.old, o.new}
	for i, name := range names {
		both[i].program, _ = built(name)
	}
	if both[0].program != "" && both[1].program != "" {
		return both, nil
	}
	if _, err := git(ctx, "rev-parse", "--show-toplevel"); err != nil {
		return both, badInput("this is no git repository with files: %v; run it in one, or name two programs", err)
	}
	for i, name := range names {
		if both[i].program != "" {
			continue
		}
		if both[i].hash, err = git(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}"); err != nil {
			return both, badInput("there is no commit called %q; name one that git log shows, or the path of a gaspi-bench, by OLD= or NEW=", name)
		}
		if both[i].subject, err = git(ctx, "log", "-1", "--format=%s", both[i].hash); err != nil {
			return both, err
		}
	}
	head, err := git(ctx, "rev-parse", "HEAD")
	if err != nil {
		return both, err
	}
	changes, err := git(ctx, "status", "--porcelain", "--untracked-files=no")
	if err != nil {
		return both, err
	}
	if changes != "" && (both[0].hash == head || both[1].hash == head) {
		return both, badInput("the working tree has changes, which would not be measured with commit %s; commit or stash them", head[:12])
	}
	return both, nil
}

// git runs git and returns what it prints. If ctx ends, git is interrupted, so that it leaves
// no worktree half made.
func git(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = patience
	return output(cmd)
}

// patience is how long git may take to clean up.
const patience = time.Minute

// output runs a command and returns what it prints, without spaces around it.
func output(cmd *exec.Cmd) (string, error) {
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, strings.Join(strings.Fields(complaint.String()), " "))
	}
	return strings.TrimSpace(string(out)), nil
}

// Names of the two sides, in rows and directories.
var sideNames = [2]string{"old", "new"}

// A buildResult is a directory with the worktrees of two commits and their programs.
type buildResult struct {
	dir      string // empty if there is none
	trees    []string
	programs [2]string // of the sides
}

// build makes a worktree of each commit and builds gaspi-bench there. The result is to be
// removed also if there is an error.
func build(ctx context.Context, both [2]commit) (b *buildResult, err error) {
	b = &buildResult{}
	if b.dir, err = os.MkdirTemp("", "gaspi-benchdiff-"); err != nil {
		return b, err
	}
	for i, c := range both {
		if b.programs[i] = c.program; c.program != "" {
			continue
		}
		b.programs[i] = filepath.Join(b.dir, sideNames[i]+".bench")
		if err := b.one(ctx, i, c); err != nil {
			return b, fmt.Errorf("building commit %v: %w", c, err)
		}
	}
	return b, nil
}

// one builds a commit.
func (b *buildResult) one(ctx context.Context, side int, c commit) error {
	tree := filepath.Join(b.dir, sideNames[side])
	b.trees = append(b.trees, tree)
	if _, err := git(ctx, "worktree", "add", "--detach", tree, c.hash); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(tree, "cmd", "gaspi-bench")); err != nil {
		return badInput("it has no cmd/gaspi-bench; name a commit that has")
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-o", b.programs[side], "./cmd/gaspi-bench")
	cmd.Dir = tree // without its path in them, packages that did not change are not compiled again
	_, err := output(cmd)
	return err
}

// runners start the programs of both sides.
func (b *buildResult) runners(forRow time.Duration) (both [2]*subprocess.Runner) {
	for i, program := range b.programs {
		both[i] = &subprocess.Runner{Program: program, Time: forRow}
	}
	return both
}

// remove removes worktrees, which git keeps account of, and programs.
func (b *buildResult) remove() {
	ctx, cancel := context.WithTimeout(context.Background(), patience) // after an interrupt too
	defer cancel()
	var errs []error
	for _, tree := range b.trees {
		if _, err := os.Stat(tree); err == nil {
			_, err = git(ctx, "worktree", "remove", "--force", "--force", tree)
			errs = append(errs, err)
		}
	}
	if b.dir != "" {
		errs = append(errs, os.RemoveAll(b.dir))
	}
	if errors.Join(errs...) != nil {
		git(ctx, "worktree", "prune") // forgets those whose directories are gone
	}
}
