package peer

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// source are the benchmarks. The line with go:build keeps the go command from
// compiling them.
//
//go:embed *.c *.h
var source embed.FS

// optimise is how the benchmark is compiled. The code that it measures is in the library, so
// that this matters little.
var optimise = []string{"-O3", "-march=native"}

// build compiles the benchmark into dir, unless it is there: same source, same
// compiler, same library. It returns the program's path.
func (l library) build(ctx context.Context, dir, compiler, library string) (string, error) {
	said, err := ask(ctx, compiler, "--version")
	if err != nil {
		return "", fmt.Errorf("asking %s for its version: %w", filepath.Base(compiler), err)
	}
	key, err := digest(compiler, said, library, strings.Join(l.link, " "))
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", err
	}
	name := strings.TrimSuffix(l.source, ".c")
	program := filepath.Join(dir, name+"-"+l.name+"-"+key)
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	// Another process may do the same: the program appears at once or not at all.
	scratch, err := os.MkdirTemp(dir, "build-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(scratch)
	if err := os.CopyFS(scratch, source); err != nil {
		return "", err
	}
	fresh := filepath.Join(scratch, name)
	args := slices.Concat(optimise, []string{"-o", fresh, filepath.Join(scratch, l.source)}, l.link)
	if out, err := exec.CommandContext(ctx, compiler, args...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s: %w: %s", filepath.Base(compiler), err, reason(string(out)))
	}
	return program, os.Rename(fresh, program)
}

// digest stands for everything that a program is made of.
func digest(parts ...string) (string, error) {
	h := sha256.New()
	for _, part := range append(parts, optimise...) {
		fmt.Fprintf(h, "%d %s\n", len(part), part)
	}
	names, err := fs.Glob(source, "*")
	if err != nil {
		return "", err
	}
	for _, name := range names {
		text, err := source.ReadFile(name)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%s %d %s\n", name, len(text), text)
	}
	const digits = 16
	return hex.EncodeToString(h.Sum(nil))[:digits], nil
}
