// Package peer measures MPI libraries beside gaspi-bench: it compiles a small C
// program of this project with a library's compiler, runs it by the library's
// launcher with the transport forced, and reads the times of its blocks.
//
// It does not know what gaspi-bench measures itself, and draws no conclusions.
// The program follows the rules of gaspi-bench: see mpibench.c.
package peer

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
)

// A Peer is an MPI library that is ready to be measured.
type Peer struct {
	Name    string // as Names has it
	Version string // of its launcher, such as 4.1.4

	library  library
	launcher string // path
	program  string // path
}

// A library is what there is to know about an MPI library.
type library struct {
	name     string
	title    string // for sentences
	compiler string // commands; Debian lets several libraries live together by such names
	launcher string
	packages string // of Debian

	// command is how a job is launched, without the program and its arguments.
	command func(j Job) launch
	// algorithms are the names that can be forced for an operation, and how.
	algorithms func(ctx context.Context, operation string) (map[string]launch, error)
}

// A launch is arguments of a launcher, and variables to add to its environment.
type launch struct {
	args []string
	env  []string
}

func (l launch) and(more launch) launch {
	return launch{append(l.args[:len(l.args):len(l.args)], more.args...), append(l.env[:len(l.env):len(l.env)], more.env...)}
}

// libraries are all there are, in the order of the help.
func libraries() []library { return []library{openMPI(), mpich()} }

// Names are the names that Open takes.
func Names() []string {
	var names []string
	for _, l := range libraries() {
		names = append(names, l.name)
	}
	return names
}

// Open finds a library by its name and compiles the program for it, or takes the
// one from an earlier time: programs are kept in dir, which is made if it is not
// there. An error says in one sentence what is missing and where to get it.
func Open(ctx context.Context, name, dir string) (*Peer, error) {
	for _, l := range libraries() {
		if l.name == name {
			return l.open(ctx, dir)
		}
	}
	return nil, fmt.Errorf("there is no peer %q; choose from %s", name, strings.Join(Names(), ", "))
}

func (l library) open(ctx context.Context, dir string) (*Peer, error) {
	compiler, err := l.find(l.compiler)
	if err != nil {
		return nil, err
	}
	p := &Peer{Name: l.name, library: l}
	if p.launcher, err = l.find(l.launcher); err != nil {
		return nil, err
	}
	said, err := ask(ctx, p.launcher, "--version")
	if err != nil {
		return nil, fmt.Errorf("asking %s for its version: %w", l.launcher, err)
	}
	if p.Version = version.FindString(said); p.Version == "" {
		return nil, fmt.Errorf("%s --version tells no version: %q; is it that of %s?", l.launcher, said, l.title)
	}
	if p.program, err = build(ctx, dir, l.name, compiler, said); err != nil {
		return nil, fmt.Errorf("compiling the benchmark for %s: %w", l.title, err)
	}
	return p, nil
}

// version is a number of a version, wherever it stands.
var version = regexp.MustCompile(`\b\d+\.\d+(\.\d+)?\w*`)

// find looks a command of the library up.
func (l library) find(command string) (string, error) {
	path, err := exec.LookPath(command)
	if err != nil {
		return "", fmt.Errorf("%s is not installed: no %s in PATH; on Debian, apt-get install %s", l.title, command, l.packages)
	}
	return path, nil
}

// ask runs a command and returns what it prints.
func ask(ctx context.Context, command string, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, command, args...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, reason(string(out)))
	}
	return string(out), nil
}

// reason is what matters of the output of a program that failed: what the benchmark
// itself says, else the last lines.
func reason(text string) string {
	const most = 4
	var lines []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if own, ok := strings.CutPrefix(line, "mpibench: "); ok {
			return own
		}
		if strings.Trim(line, "-=*") != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines[max(0, len(lines)-most):], " | ")
}
