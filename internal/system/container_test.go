package system

import (
	"context"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

// buildInto builds gaspi-run and the smallest example as a user does, with env.
func buildInto(t *testing.T, dir string, env ...string) (programs []string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-o", dir+"/", module+"cmd/gaspi-run", module+"examples/quickstart")
	cmd.Env = append(os.Environ(), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}
	return []string{filepath.Join(dir, "gaspi-run"), filepath.Join(dir, "quickstart")}
}

// needs is what a program wants to find when it starts: libraries, and who loads them.
func needs(t *testing.T, program string) (libraries []string, loader bool) {
	t.Helper()
	f, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if libraries, err = f.ImportedLibraries(); err != nil {
		t.Fatal(err)
	}
	loader = slices.ContainsFunc(f.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP })
	return libraries, loader
}

// A plain go build needs the C library at most, which package net of Go's wants where
// there is a C compiler.
func TestPlainBuildNeedsNoLibraries(t *testing.T) {
	gate(t)
	for _, program := range buildInto(t, t.TempDir()) {
		libraries, _ := needs(t, program)
		for _, l := range libraries {
			if !slices.Contains([]string{"libc.so.6", "libpthread.so.0", "libresolv.so.2"}, l) { // the C library, as one file or as several
				t.Errorf("%s needs %s", filepath.Base(program), l)
			}
		}
	}
}

// contain runs a command in a folder as in a container whose image is that folder: with
// the processes of its own, and beside them /dev/null alone.
const contain = `mount --bind /dev/null "$0/dev/null" && mount -t proc proc "$0/proc" && exec chroot "$0" "$@"`

// A job runs in a container that holds nothing but the programs, over memory and over
// sockets.
func TestEmptyContainer(t *testing.T) {
	gate(t)
	testenv.Need(t, "unshare", "chroot")
	testenv.NeedSuccess(t, "mount in a namespace", "unshare", "--mount", "--pid", "--fork", "sh", "-c", "mount -t proc proc /proc && chroot / true")
	root := t.TempDir()
	for _, program := range buildInto(t, root, "CGO_ENABLED=0") {
		if libraries, loader := needs(t, program); len(libraries) > 0 || loader {
			t.Fatalf("%s needs libraries %q, and a loader: %v", filepath.Base(program), libraries, loader)
		}
	}
	for _, dir := range []string{"dev", "proc"} {
		if err := os.Mkdir(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "dev/null"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	const ranks = 3
	var want []string
	for r := range ranks {
		want = append(want, fmt.Sprintf("[%d] rank %d of %d got %d", r, r, ranks, 100+(r+ranks-1)%ranks))
	}
	for _, transport := range []string{"auto", "shm", "tcp"} {
		t.Run(transport, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), jobLimit)
			defer cancel()
			cmd := exec.CommandContext(ctx, "unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", contain, root,
				"/gaspi-run", "-n", fmt.Sprint(ranks), "--transport", transport, "/quickstart")
			cmd.Env = []string{}
			out, err := cmd.CombinedOutput()
			lines := strings.Split(strings.TrimSpace(string(out)), "\n")
			if slices.Sort(lines); err != nil || !slices.Equal(lines, want) {
				t.Errorf("%v\n%s\nwant:\n%s", err, out, strings.Join(want, "\n"))
			}
		})
	}
}
