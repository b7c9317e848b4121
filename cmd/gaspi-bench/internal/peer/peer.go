// Package peer measures other libraries beside gaspi-bench, those of MPI, libfabric, and the library for C of this project:
// it compiles a small C program of this project with a library's compiler, runs it by
// the library's launcher with the transport forced, and reads the times of its blocks.
//
// It does not know what gaspi-bench measures itself, and draws no conclusions.
// The programs follow the rules of gaspi-bench: see mpibench.c, fabricbench.c and gaspibench.c.
package peer

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// A Peer is a library that is ready to be measured.
type Peer struct {
	Name    string // as Open takes it
	Version string // such as 4.1.4

	library  library
	launcher string // path; the program itself where there is no launcher
	program  string // path
}

// A library is what there is to know about a library.
type library struct {
	name     string
	title    string   // for sentences
	source   string   // the program
	compiler string   // commands; Debian lets several libraries live together by such names
	link     []string // arguments of the compiler, behind the source
	launcher string   // empty if the program starts its ranks itself
	packages string   // of Debian
	dir      string   // of an installation, which has bin, include and lib; empty for commands in PATH
	says     string   // what the launcher says of itself beside its version; empty where dir always is
	missing  string   // where it comes from, if from no package

	beside func(launcher string) []string // what goes with link where the launcher lies; may be nil

	// ways are the ways in which it does an operation; nil if it has no such operation.
	ways func(operation string) []string
	// arguments returns the arguments of the program.
	arguments func(j Job) []string
	// command is how a job is launched, without the program and its arguments.
	command func(j Job) launch
	// algorithms are the names that can be forced for an operation, and how.
	algorithms func(ctx context.Context, l library, operation string) (map[string]launch, error)
}

// noAlgorithms is for a library that has no choice of them.
func noAlgorithms(context.Context, library, string) (map[string]launch, error) { return nil, nil }

// A launch is arguments of a launcher, and variables to add to its environment.
type launch struct {
	args []string
	env  []string
}

func (l launch) and(more launch) launch {
	return launch{append(l.args[:len(l.args):len(l.args)], more.args...), append(l.env[:len(l.env):len(l.env)], more.env...)}
}

// libraries are all there are, in the order of the help.
func libraries() []library { return append([]library{openMPI(), mpich(), capi()}, fabrics()...) }

// Names are the names that Open takes. It also takes NAME=DIR for a library of MPI that is installed
// in a folder of its own, which holds bin, include and lib.
func Names() []string {
	var names []string
	for _, l := range libraries() {
		names = append(names, l.name)
	}
	return names
}

// Check returns an error that says what is expected if Open takes no such name.
func Check(name string) error {
	_, err := named(name)
	return err
}

// named returns the library that a name stands for.
func named(name string) (library, error) {
	kind, dir, own := strings.Cut(name, "=")
	for _, l := range libraries() {
		switch {
		case l.name != kind:
		case !own:
			return l, nil
		case !MPI(kind):
			return l, fmt.Errorf("expected %s alone; only a library of MPI is named with its folder", kind)
		case dir == "":
			return l, errors.New("expected the folder of an installation behind the =")
		default:
			var err error
			l.dir, err = filepath.Abs(dir)
			l.compiler, l.launcher = "mpicc", "mpirun" // Debian alone calls them otherwise
			return l, err
		}
	}
	return library{}, fmt.Errorf("expected a list of %s", strings.Join(Names(), ", "))
}

// Open finds a library by its name and compiles the program for it, or takes the
// one from an earlier time: programs are kept in dir, which is made if it is not
// there. An error says in one sentence what is missing and where to get it.
func Open(ctx context.Context, name, dir string) (*Peer, error) {
	l, err := named(name)
	if err != nil {
		return nil, fmt.Errorf("peer %q: %w", name, err)
	}
	return l.open(ctx, name, dir)
}

func (l library) open(ctx context.Context, name, dir string) (*Peer, error) {
	compiler, err := l.find(l.compiler)
	if err != nil {
		return nil, err
	}
	p := &Peer{Name: name, library: l}
	said := ""
	if l.launcher != "" {
		if p.launcher, err = l.find(l.launcher); err != nil {
			return nil, err
		}
		if said, err = p.askVersion(ctx); err != nil {
			return nil, err
		}
		if l.beside != nil {
			l.link = append(l.beside(p.launcher), l.link...)
		}
	}
	if p.program, err = l.build(ctx, dir, compiler, said); err != nil {
		return nil, fmt.Errorf("compiling the benchmark for %s: %w", l.title, l.hint(err))
	}
	if l.launcher == "" {
		p.launcher = p.program
		_, err = p.askVersion(ctx)
	}
	return p, err
}

// hint adds what may be missing, where there is no launcher whose absence has told.
func (l library) hint(err error) error {
	if l.launcher != "" {
		return err
	}
	return fmt.Errorf("%w; on Debian, apt-get install %s", err, l.packages)
}

// askVersion asks the launcher for the version, and returns all that it says.
func (p *Peer) askVersion(ctx context.Context) (string, error) {
	name := filepath.Base(p.launcher)
	said, err := ask(ctx, p.launcher, "--version")
	if err != nil {
		return "", fmt.Errorf("asking %s for its version: %w", name, err)
	}
	if p.Version = version.FindString(said); p.Version == "" {
		return "", fmt.Errorf("%s --version tells no version: %q; is it that of %s?", name, said, p.library.title)
	}
	if p.library.dir != "" && !strings.Contains(said, p.library.says) {
		return "", fmt.Errorf("%s --version prints %q; expected that of %s", p.launcher, reason(said), p.library.title)
	}
	return said, nil
}

// version is a number of a version, wherever it stands.
var version = regexp.MustCompile(`\bv?\d+\.\d+(\.\d+)?\w*|\(devel\)`)

// find looks a command of the library up.
func (l library) find(command string) (string, error) {
	if l.dir != "" {
		path, err := exec.LookPath(filepath.Join(l.dir, "bin", command))
		if err != nil {
			return "", fmt.Errorf("%s is not installed in %s: no program bin/%s there; name the folder that holds bin, include and lib", l.title, l.dir, command)
		}
		return path, nil
	}
	path, err := exec.LookPath(command)
	if err != nil {
		where := l.missing
		if where == "" {
			where = "on Debian, apt-get install " + l.packages
		}
		return "", fmt.Errorf("%s is not installed: no %s in PATH; %s", l.title, command, where)
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
		for _, program := range []string{"mpibench: ", "fabricbench: ", "gaspibench: "} {
			if own, ok := strings.CutPrefix(line, program); ok {
				return own
			}
		}
		if strings.Trim(line, "-=*") != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines[max(0, len(lines)-most):], " | ")
}
