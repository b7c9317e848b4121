package launcher

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

func TestPackagesAreBuilt(t *testing.T) {
	testenv.WriteTree(t, map[string]string{
		"go.mod":          "module example.test/m\n\ngo 1.21\n",
		"hello/hello.go":  "package main\n\nimport (\"fmt\"; \"os\")\n\nfunc main() { fmt.Println(os.Args) }\n",
		"broken/main.go":  "package main\n\nfunc main() { undefined() }\n",
		"library/code.go": "package library\n",
	})
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	t.Setenv("GOFLAGS", os.Getenv("GOFLAGS")+" -mod=mod")
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
