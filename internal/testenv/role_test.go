package testenv

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

func TestMain(m *testing.M) { Main(Waiting{m}, roles()) }

func roles() map[string]Role {
	return map[string]Role{
		"says":  func(_ context.Context, args []string) error { fmt.Printf("%q\n", args); return nil },
		"fails": func(context.Context, []string) error { return errors.New("it has failed") },
		"hangs": func(ctx context.Context, _ []string) error { <-ctx.Done(); return ctx.Err() },
		"asked": func(ctx context.Context, _ []string) error { _, is := ctx.Deadline(); fmt.Println(is); return nil },
		"main":  Program(func() { fmt.Println(len(os.Args), "words") }),
	}
}

func TestRoles(t *testing.T) {
	for _, c := range []struct {
		name, stdout, stderr string
		env                  []string
	}{
		{"arguments", `["a b" "" "\"\n"]` + "\n", "", []string{AsRole("says", "a b", "", "\"\n")}},
		{"no arguments", "[]\n", "", []string{AsRole("says"), Until(time.Hour)}},
		{"program", "1 words\n", "", []string{AsRole("main")}},
		{"failure", "", "it has failed\n", []string{AsRole("fails")}},
		{"hangs", "", "context deadline exceeded\n", []string{AsRole("hangs"), Until(time.Millisecond)}},
		{"another's role", "", "GASPI_TEST_ROLE=[\"none\"]: no role has this name\n", []string{AsRole("none")}},
		{"no role", "", "GASPI_TEST_ROLE=[]: expected a name and arguments such as [\"name\",\"argument\"]\n", []string{roleEnv + "=[]"}},
		{"no array", "", "GASPI_TEST_ROLE=says: expected a name and arguments such as [\"name\",\"argument\"]\n", []string{roleEnv + "=says"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd := exec.CommandContext(Context(t), "/proc/self/exe")
			cmd.Env = append(os.Environ(), c.env...)
			var stdout, stderr strings.Builder
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			err := cmd.Run()
			want := 0
			if c.stderr != "" {
				want = 1
			}
			if code := cmd.ProcessState.ExitCode(); code != want || stdout.String() != c.stdout || stderr.String() != c.stderr {
				t.Errorf("%v, want exit code %d\n%s%s", err, want, &stdout, &stderr)
			}
		})
	}
	if err := play(`["says"]`, "soon", roles()); err == nil || !strings.Contains(err.Error(), `GASPI_TEST_UNTIL: parsing time "soon"`) {
		t.Errorf("%v, want that the time is none", err)
	}
}

func TestCommand(t *testing.T) {
	ended, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	for _, c := range []struct {
		cmd  *exec.Cmd
		want string
	}{
		{Command(t.Context(), "says", "a b", "c"), `["a b" "c"]`},
		{Command(t.Context(), "asked"), "false"},
		{Command(ended, "asked"), "true"},
	} {
		out, err := c.cmd.CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != c.want {
			t.Errorf("%v: %s, want %s", err, got, c.want)
		}
	}
	program := Command(t.Context(), "main")
	program.Args = append(program.Args, "two", "more")
	if out, err := program.CombinedOutput(); err != nil || string(out) != "3 words\n" {
		t.Errorf("%v: %s, want 3 words", err, out)
	}
	cancel()
	if err := Command(ended, "hangs").Run(); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want %v", err, context.Canceled)
	}
}
