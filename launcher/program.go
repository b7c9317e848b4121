package launcher

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/gaspi-go/gaspi-go/launcher/internal/supervise"
)

// ErrNotFound says that there is no such program.
var ErrNotFound = errors.New("no such program")

// ErrNotExecutable says that the program is a file that cannot be executed.
var ErrNotExecutable = errors.New("not executable")

// A target is what Config.Program turned out to be: a binary, or a package that
// is yet to be built.
type target struct {
	binary string // path of an executable file; empty for a package
	dir    string // for a package: where the go command runs; empty for here
	pkg    string // for a package: what it is told to build
	name   string // what a rank sees as the name of the program
}

// named is a package as a user names it: a folder, a file, or an import path.
func (t *target) named() string {
	if t.pkg == "." {
		return t.dir
	}
	return filepath.Join(t.dir, t.pkg)
}

// A program is ready to be executed any number of times.
type program struct {
	path  string   // what to execute
	name  string   // argument 0
	built bool     // it is a memory file of this process, so no other host has it
	file  *os.File // what a rank inherits as supervise.ProgramFD, if path says so; else nil
	close func()
}

// seen is a path at which this process finds the program.
func (p *program) seen() string {
	if p.file != nil {
		return fmt.Sprintf("/proc/self/fd/%d", p.file.Fd())
	}
	return p.path
}

// command is how ranks execute the program, which the user calls title, in a directory.
func (p *program) command(title, dir string, args []string) supervise.Command {
	return supervise.Command{
		Path: p.path, Name: p.name, Args: args, Dir: dir, File: p.file,
		Check:   func() error { return checkWhole(p.seen(), title) },
		Explain: func(err error) error { return whyNotStarted(err, p.seen(), title, dir) },
	}
}

// prepare finds the program and builds it if it is a package.
func prepare(ctx context.Context, cfg Config, signals *signals) (*program, error) {
	t, err := findTarget(cfg.Program)
	if err != nil {
		return nil, err
	}
	if t.binary != "" {
		return &program{path: t.binary, name: t.name, close: func() {}}, nil
	}
	return build(ctx, cfg, t, signals)
}

// findTarget decides whether name is a binary or a package; see Config.Program.
func findTarget(name string) (target, error) {
	if name == "." || name == ".." || strings.ContainsRune(name, '/') {
		return targetAtPath(name)
	}
	found, err := exec.LookPath(name)
	if err == nil {
		return target{binary: found, name: name}, nil
	}
	info, statErr := os.Stat(name)
	switch {
	case statErr == nil && info.IsDir(), strings.HasSuffix(name, ".go"):
		return targetAtPath("./" + name)
	case statErr == nil:
		return target{}, fmt.Errorf("%s: %w in PATH; for the file in this directory write ./%s", name, ErrNotFound, name)
	case errors.Is(err, exec.ErrDot):
		return target{}, fmt.Errorf("%s: %w in PATH but in the current directory; write ./%s", name, ErrNotFound, name)
	}
	if path, info := unmarked(name); info != nil {
		return target{}, notMarked(path, info)
	}
	return target{}, fmt.Errorf("%s: %w in PATH, and no directory with a Go package is here by that name", name, ErrNotFound)
}

// unmarked is the first file of that name in PATH, of which none can be executed.
func unmarked(name string) (path string, info fs.FileInfo) {
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		path = filepath.Join(dir, name)
		if info, err := os.Stat(path); name != "" && err == nil && info.Mode().IsRegular() {
			return path, info
		}
	}
	return "", nil
}

// targetAtPath looks at what is there; what is not there may be an import path.
func targetAtPath(name string) (target, error) {
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist) && isImportPath(name):
		return target{pkg: name, name: path.Base(name)}, nil
	case errors.Is(err, fs.ErrNotExist):
		return target{}, fmt.Errorf("%s: %w: there is no such file or directory", name, ErrNotFound)
	case isMissing(err):
		return target{}, fmt.Errorf("%s: %w: %w", name, ErrNotFound, errors.Unwrap(err))
	case err != nil:
		return target{}, unfit(name, "%v; a directory above it is closed to this user", errors.Unwrap(err))
	case info.IsDir():
		return packageTarget(name)
	case strings.HasSuffix(name, ".go"):
		base := filepath.Base(name)
		return target{dir: filepath.Dir(name), pkg: base, name: strings.TrimSuffix(base, ".go")}, nil
	case !info.Mode().IsRegular():
		return target{}, whyUnfit(0, name, name)
	}
	if _, err := exec.LookPath(name); err != nil {
		return target{}, whyUnfit(syscall.EACCES, name, name)
	}
	return target{binary: name, name: name}, nil
}

// packageTarget is a directory that must hold Go files.
func packageTarget(dir string) (target, error) {
	files, err := filepath.Glob(filepath.Join(escapeGlob(dir), "*.go"))
	if err != nil || len(files) == 0 {
		return target{}, unfit(dir, "it is a directory without Go files; name a binary, or a directory with a Go package")
	}
	full, err := filepath.Abs(dir)
	if err != nil {
		return target{}, err
	}
	return target{dir: dir, pkg: ".", name: filepath.Base(full)}, nil
}

// escapeGlob makes a path match only itself.
func escapeGlob(s string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(s)
}

// isImportPath tells import paths from paths of files that are missing: an
// import path is not written as a file name, and nothing here has the name of
// its first element.
func isImportPath(name string) bool {
	if filepath.IsAbs(name) || strings.HasPrefix(name, "./") || strings.HasPrefix(name, "../") || strings.HasSuffix(name, "/") {
		return false
	}
	first, _, _ := strings.Cut(name, "/")
	_, err := os.Stat(first)
	return first != "" && first != "." && first != ".." && errors.Is(err, fs.ErrNotExist)
}
