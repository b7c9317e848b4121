package launcher

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// writeTree makes files below a new directory, and goes there.
func writeTree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		mode := os.FileMode(0o600)
		if strings.HasPrefix(text, "#!") {
			mode = 0o700
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	return dir
}

func TestFindTarget(t *testing.T) {
	dir := writeTree(t, map[string]string{
		"bin/tool":        "#!/bin/sh\n",
		"bin/both":        "#!/bin/sh\n",
		"both/main.go":    "package main\n",
		"plain":           "text",
		"here":            "#!/bin/sh\n",
		"pkg/[odd]/x.go":  "package main\n",
		"empty/readme.md": "",
		"single.go":       "package main\n",
	})
	t.Setenv("PATH", filepath.Join(dir, "bin"))
	cases := []struct {
		program string
		want    target
		err     error
		says    string
	}{
		{program: "bin/tool", want: target{binary: "bin/tool", name: "bin/tool"}},
		{program: "./here", want: target{binary: "./here", name: "./here"}},
		{program: dir + "/here", want: target{binary: dir + "/here", name: dir + "/here"}},
		{program: "tool", want: target{binary: dir + "/bin/tool", name: "tool"}},
		{program: "both", want: target{binary: dir + "/bin/both", name: "both"}},
		{program: "./both", want: target{dir: "./both", pkg: ".", name: "both"}},
		{program: "both/", want: target{dir: "both/", pkg: ".", name: "both"}},
		{program: "pkg/[odd]", want: target{dir: "pkg/[odd]", pkg: ".", name: "[odd]"}},
		{program: ".", want: target{dir: ".", pkg: ".", name: filepath.Base(dir)}},
		{program: "single.go", want: target{dir: ".", pkg: "single.go", name: "single"}},
		{program: "both/main.go", want: target{dir: "both", pkg: "main.go", name: "main"}},
		{program: "example.com/x/cmd/y", want: target{pkg: "example.com/x/cmd/y", name: "y"}},
		{program: "cmd/gofmt", want: target{pkg: "cmd/gofmt", name: "gofmt"}},
		{program: "nope", err: ErrNotFound, says: "PATH"},
		{program: "here", err: ErrNotFound, says: "write ./here"},
		{program: "./nope", err: ErrNotFound, says: "no such file"},
		{program: "/nope/x", err: ErrNotFound, says: "no such file"},
		{program: "bin/nope", err: ErrNotFound, says: "no such file"},
		{program: "nope.go", err: ErrNotFound, says: "no such file"},
		{program: "./empty", err: ErrNotExecutable, says: "without Go files"},
		{program: "./plain", err: ErrNotExecutable, says: "chmod +x"},
		{program: "/dev/null", err: ErrNotExecutable, says: "it is a device"},
		{program: "plain/x", err: ErrNotFound, says: "not a directory"},
	}
	for _, c := range cases {
		t.Run(c.program, func(t *testing.T) {
			got, err := findTarget(c.program)
			if c.says == "" {
				if d := cmp.Diff(c.want, got, cmp.AllowUnexported(target{})); d != "" || err != nil {
					t.Errorf("%v (-want +got):\n%s", err, d)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.says) || c.err != nil && !errors.Is(err, c.err) {
				t.Errorf("%v; want an error with %q", err, c.says)
			}
		})
	}
}

func TestPackagesAreBuilt(t *testing.T) {
	writeTree(t, map[string]string{
		"go.mod":          "module example.test/m\n\ngo 1.21\n",
		"hello/hello.go":  "package main\n\nimport (\"fmt\"; \"os\")\n\nfunc main() { fmt.Println(os.Args) }\n",
		"broken/main.go":  "package main\n\nfunc main() { undefined() }\n",
		"library/code.go": "package library\n",
	})
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	t.Setenv("GOFLAGS", "-mod=mod")
	for _, program := range []string{"./hello", "example.test/m/hello", "hello/hello.go"} {
		o, err := runJob(t, Config{Program: program, Args: []string{"a b"}, Ranks: 2})
		if err != nil || o.stdout != "[0] [hello a b]\n[1] [hello a b]\n" && o.stdout != "[1] [hello a b]\n[0] [hello a b]\n" {
			t.Errorf("%s: %v, %q, %q", program, err, o.stdout, o.stderr)
		}
	}
	var build *BuildError
	o, err := runJob(t, Config{Program: "./broken", Ranks: 2})
	if !errors.As(err, &build) || build.ExitCode != 1 || !strings.Contains(o.stderr, "undefined: undefined") {
		t.Errorf("broken package: %v, stderr %q", err, o.stderr)
	}
	if _, err := runJob(t, Config{Program: "./library", Ranks: 2}); !errors.Is(err, ErrNotExecutable) {
		t.Errorf("package that is no program: %v", err)
	}
	left, err := os.ReadDir(temp)
	if err != nil || len(left) > 0 {
		t.Errorf("left in the temporary directory: %v, %v", left, err)
	}
	t.Setenv("PATH", temp)
	if _, err := runJob(t, Config{Program: "./hello", Ranks: 2}); err == nil || !strings.Contains(err.Error(), "go command") {
		t.Errorf("without the go command: %v", err)
	}
}

func TestArgumentsThatAreTooLong(t *testing.T) {
	const most = 128 << 10 // of one argument, in the kernel
	_, err := runJob(t, Config{Program: "true", Ranks: 1, Args: []string{strings.Repeat("x", most)}})
	if want := "true: not executable: its arguments and environment are longer than the system takes; shorten them, or pass a file"; !errors.Is(err, ErrNotExecutable) || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestDirectoryThatIsNotThere is about another host: this one has it.
func TestDirectoryThatIsNotThere(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "nowhere")
	err := whyNotStarted(syscall.ENOENT, "/bin/sh", "sh", dir)
	r := newRemote(&job{program: &program{}}, place{name: "b"})
	err = r.problem(started{Problem: err.Error(), Because: obstacleOf(err)})
	want := "host b: sh: there is no directory " + dir + " to start it in; the program and its directory must be there too, or be copied with --stage"
	if !errors.Is(err, errNoDirectory) || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
