package executable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"syscall"
)

// A Target is what a user has named: a binary, or a package that is yet to be built.
type Target struct {
	binary string // path of an executable file; empty for a package
	dir    string // for a package: where the go command runs; empty for here
	pkg    string // for a package: what it is told to build
	name   string // what a rank sees as the name of the program
}

// Binary returns the path of an executable file, or nothing for a package.
func (t Target) Binary() string { return t.binary }

// Package names a package as a user does: by a folder, a file, or an import path.
func (t Target) Package() string {
	if t.pkg == "." {
		return t.dir
	}
	return filepath.Join(t.dir, t.pkg)
}

// Find decides whether name is a binary or a package. The error is ErrNotFound or
// ErrNotExecutable.
func Find(name string) (Target, error) {
	if name == "." || name == ".." || strings.ContainsRune(name, '/') {
		return targetAtPath(name)
	}
	found, err := exec.LookPath(name)
	if err == nil {
		return Target{binary: found, name: name}, nil
	}
	info, statErr := os.Stat(name)
	switch {
	case statErr == nil && info.IsDir(), strings.HasSuffix(name, ".go"):
		return targetAtPath("./" + name)
	case statErr == nil:
		return Target{}, fmt.Errorf("%s: %w in PATH; for the file in this directory write ./%s", name, ErrNotFound, name)
	case errors.Is(err, exec.ErrDot):
		return Target{}, fmt.Errorf("%s: %w in PATH but in the current directory; write ./%s", name, ErrNotFound, name)
	}
	if path, info := unmarked(name); info != nil {
		return Target{}, notMarked(path, info)
	}
	return Target{}, fmt.Errorf("%s: %w in PATH, and no directory with a Go package is here by that name", name, ErrNotFound)
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
func targetAtPath(name string) (Target, error) {
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist) && isImportPath(name):
		return Target{pkg: name, name: path.Base(name)}, nil
	case errors.Is(err, fs.ErrNotExist):
		return Target{}, fmt.Errorf("%s: %w: there is no such file or directory", name, ErrNotFound)
	case isMissing(err):
		return Target{}, fmt.Errorf("%s: %w: %w", name, ErrNotFound, errors.Unwrap(err))
	case err != nil:
		return Target{}, unfit(name, "%v; a directory above it is closed to this user", errors.Unwrap(err))
	case info.IsDir():
		return packageTarget(name)
	case strings.HasSuffix(name, ".go"):
		base := filepath.Base(name)
		return Target{dir: filepath.Dir(name), pkg: base, name: strings.TrimSuffix(base, ".go")}, nil
	case !info.Mode().IsRegular():
		return Target{}, whyUnfit(0, name, name)
	}
	if _, err := exec.LookPath(name); err != nil {
		return Target{}, whyUnfit(syscall.EACCES, name, name)
	}
	return Target{binary: name, name: name}, nil
}

// packageTarget is a directory that must hold Go files.
func packageTarget(dir string) (Target, error) {
	files, err := filepath.Glob(filepath.Join(escapeGlob(dir), "*.go"))
	if err != nil || len(files) == 0 {
		return Target{}, unfit(dir, "it is a directory without Go files; name a binary, or a directory with a Go package")
	}
	full, err := filepath.Abs(dir)
	if err != nil {
		return Target{}, err
	}
	return Target{dir: dir, pkg: ".", name: filepath.Base(full)}, nil
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
