package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

// program is the role of a process that is benchdiff.
const program = "benchdiff"

func TestMain(m *testing.M) {
	testenv.Main(m, map[string]testenv.Role{program: testenv.Program(main)})
}

// A repository is a git repository whose commits are gaspi-benches that measure nothing.
type repository struct{ dir string }

// newRepository makes one with a commit for each of these programs: lines of Go that call
// row(impl, bytes, us) for the rows that are written. The commits are tagged c0, c1, ...
func newRepository(t *testing.T, programs ...string) *repository {
	t.Helper()
	testenv.Need(t, "git", "sh")
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	t.Setenv("GIT_CONFIG_SYSTEM", os.DevNull)
	r := &repository{filepath.Join(t.TempDir(), "repository")}
	if err := os.MkdirAll(filepath.Join(r.dir, "cmd", "gaspi-bench"), 0o777); err != nil {
		t.Fatal(err)
	}
	r.git(t, "init", "-q")
	withoutTrimpath(t)
	r.write(t, "go.mod", "module example.org/m\n\ngo 1.24\n")
	for i, program := range programs {
		r.write(t, "cmd/gaspi-bench/main.go", fmt.Sprintf(fakeBench, program))
		r.commit(t, fmt.Sprintf("program %d", i))
		r.git(t, "tag", fmt.Sprintf("c%d", i))
	}
	return r
}

// withoutTrimpath puts a go command into PATH that drops the flag -trimpath, for which the standard
// library would be compiled once more.
func withoutTrimpath(t *testing.T) {
	t.Helper()
	command, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	script := "#!/bin/sh\nfor a; do shift; [ \"$a\" = -trimpath ] || set -- \"$@\" \"$a\"; done\nexec " + command + " \"$@\"\n"
	if err := os.WriteFile(filepath.Join(dir, "go"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
}

// fakeBench is a gaspi-bench. Its directory counts the starts of all sides.
const fakeBench = `package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

var (
	args = os.Args[1:]
	side = strings.TrimSuffix(filepath.Base(os.Args[0]), ".bench")
	file *os.File
)

func flag(name string) string {
	for i, a := range args {
		if a == name {
			return args[i+1]
		}
	}
	return ""
}

func row(impl string, bytes int, us float64) {
	fmt.Fprintf(file, "{\"op\":%%q,\"impl\":%%q,\"transport\":%%q,\"n\":%%s,\"bytes\":%%d,\"p50_us\":%%g}\n", args[0], impl, flag("--transport"), flag("-n"), bytes, us)
}

// starts is how many times side has been started before.
func starts() int {
	f, _ := os.OpenFile(os.Getenv("TURNS"), os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o666)
	before, _ := os.ReadFile(f.Name())
	fmt.Fprintln(f, side, args[0], flag("-n"), flag("--transport"), flag("--sizes"), flag("--time"))
	return strings.Count(string(before), side+" ")
}

// interrupt interrupts benchdiff and waits to be ended.
func interrupt() {
	syscall.Kill(os.Getppid(), syscall.SIGINT)
	time.Sleep(time.Minute)
}

func main() {
	n := starts()
	file, _ = os.Create(flag("--json"))
	_, _ = n, interrupt
	%s
}
`

func (r *repository) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(r.dir, name), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func (r *repository) commit(t *testing.T, subject string) {
	r.git(t, "add", "-A")
	r.git(t, "-c", "user.name=n", "-c", "user.email=n@example.org", "commit", "-q", "-m", subject)
}

// git runs git and returns what it prints.
func (r *repository) git(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = r.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// benchdiff runs the command in the repository, in a process of its own. It fails the test if
// a worktree or a file is left behind.
func (r *repository) benchdiff(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	scratch := t.TempDir()
	cmd := testenv.Command(t.Context(), program)
	cmd.Args, cmd.Dir = append(cmd.Args, args...), r.dir
	cmd.Env = append(cmd.Env, "TMPDIR="+scratch, "TURNS="+r.dir+".turns", "GORACE=atexit_sleep_ms=0")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if _, exited := cmd.Run().(*exec.ExitError); !exited && cmd.ProcessState == nil {
		t.Fatalf("benchdiff %v did not start", args)
	}
	if trees := r.git(t, "worktree", "list"); strings.Contains(trees, "\n") {
		t.Errorf("worktrees are left:\n%s", trees)
	}
	if left, err := os.ReadDir(scratch); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// turns are the starts of both sides in their order.
func (r *repository) turns(t *testing.T) []string {
	t.Helper()
	data, err := os.ReadFile(r.dir + ".turns")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(data)), "\n")
}

// constant is a program whose rows are always the same.
const constant = `row("gaspi", 8, %g); row("limit", 8, 1)`

// Goal: both commits are built and measure in turns, and the table is that of what they say.
func TestTurns(t *testing.T) {
	r := newRepository(t, fmt.Sprintf(constant, 3.0), fmt.Sprintf(constant, 1.5))
	record := filepath.Join(t.TempDir(), "rounds.json")
	stdout, stderr, code := r.benchdiff(t, "--rounds", "3", "--operations", "latency,barrier", "--transports", "tcp", "--ranks", "2,4", "--sizes", "8", "--time", "7ms", "--json", record, "c0", "c1")
	if code != 0 || stderr != "" {
		t.Fatalf("exit code %d, said %q", code, stderr)
	}
	var want []string
	for round := range 3 {
		for _, op := range []string{"latency", "barrier"} {
			for _, ranks := range []string{"2", "4"} {
				both := []string{"old", "new"}
				if round%2 == 1 {
					both = []string{"new", "old"}
				}
				for _, side := range both {
					want = append(want, fmt.Sprintf("%s %s %s tcp 8 7ms", side, op, ranks))
				}
			}
		}
	}
	if d := cmp.Diff(want, r.turns(t)); d != "" {
		t.Errorf("turns (-want +got):\n%s", d)
	}
	table := []string{
		"old: " + r.git(t, "rev-parse", "c0")[:12] + " program 0",
		"new: " + r.git(t, "rev-parse", "c1")[:12] + " program 1",
		"rounds in turns: 3, each of 7ms for a row",
		"p50 in microseconds; old/new is the median of rounds (above 1, the new commit is faster), of limit for what the machine can do at least",
		"op         transport ranks   bytes      old us      new us  old/new       of rounds   limit",
		"latency    tcp           2       8      3.0000      1.5000    2.000  2.000 to 2.000    1.00  faster",
		"latency    tcp           4       8      3.0000      1.5000    2.000  2.000 to 2.000    1.00  faster",
		"barrier    tcp           2       8      3.0000      1.5000    2.000  2.000 to 2.000    1.00  faster",
		"barrier    tcp           4       8      3.0000      1.5000    2.000  2.000 to 2.000    1.00  faster",
		"geometric mean of old/new over 4 lines: 2.000; by more than 3 %, and in every round, slower: 0, faster: 4",
	}
	if d := cmp.Diff(table, strings.Split(strings.TrimSpace(stdout), "\n")); d != "" {
		t.Errorf("table (-want +got):\n%s", d)
	}
	data, err := os.ReadFile(record)
	if err != nil || strings.Count(string(data), "\n") != 3*4*2*2 {
		t.Errorf("%d rows are recorded, %v; want 48", strings.Count(string(data), "\n"), err)
	}
}

// scriptedBench is a gaspi-bench that writes one row.
const scriptedBench = `#!/bin/sh
while [ "$1" != --json ]; do shift; done
echo '{"op":"latency","impl":"gaspi","transport":"shm","n":2,"bytes":8,"p50_us":%d}' >"$2"
`

// Goal: programs that were built already are compared where there is neither a repository nor git.
func TestPrograms(t *testing.T) {
	testenv.Need(t, "sh")
	t.Chdir(t.TempDir())
	t.Setenv("PATH", "/nowhere")
	for i, name := range sideNames {
		if err := os.WriteFile(name, fmt.Appendf(nil, scriptedBench, 6-3*i), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	cmd := testenv.Command(t.Context(), program)
	cmd.Args = append(cmd.Args, "--rounds", "1", "--operations", "latency", "--transports", "shm", "--ranks", "2", "--sizes", "8", "./old", "./new")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "6.0000      3.0000    2.000") || !strings.Contains(string(out), "old: program /") {
		t.Errorf("printed, %v:\n%s", err, out)
	}
}

// Goal: what was measured until a commit fails, or the comparison is interrupted, is shown;
// worktrees are removed all the same.
func TestEndsEarly(t *testing.T) {
	slow := fmt.Sprintf(constant, 2.0)
	for _, c := range []struct {
		name    string
		program string // of the new commit
		said    string
		shown   string
	}{
		{"interrupted in the second round", "if n == 1 { interrupt() }; " + slow, "interrupted; the table, if there is one, has what was measured until then", "not complete: ended in round 2 of 3\n"},
		{"interrupted at once", "interrupt()", "interrupted; the table, if there is one, has what was measured until then", ""},
		{"fails in the third round", `if n == 2 { fmt.Fprintln(os.Stderr, "noise\ngaspi-bench: no such link"); os.Exit(3) }; ` + slow,
			"new commit: gaspi-bench latency -n 2 --transport shm --sizes 8: exit status 3: gaspi-bench: no such link", "not complete: ended in round 3 of 3\n"},
		{"cannot be built", "nothing()", "undefined: nothing", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRepository(t, slow, c.program)
			stdout, stderr, code := r.benchdiff(t, "--rounds", "3", "--operations", "latency", "--transports", "shm", "--ranks", "2", "--sizes", "8", "c0", "c1")
			if code != exitFailed || !strings.HasPrefix(stderr, "benchdiff: ") || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, c.said) {
				t.Errorf("exit code %d, said %q; want one line with %q", code, stderr, c.said)
			}
			if (stdout != "") != (c.shown != "") || !strings.Contains(stdout, c.shown) || c.shown != "" && !strings.Contains(stdout, "1.000  1.000 to 1.000") {
				t.Errorf("printed, to have %q:\n%s", c.shown, stdout)
			}
		})
	}
}

func TestBadInput(t *testing.T) {
	r := newRepository(t, fmt.Sprintf(constant, 1.0), fmt.Sprintf(constant, 2.0))
	r.git(t, "rm", "-q", "-r", "cmd")
	r.write(t, "notes", "of a commit without programs")
	r.commit(t, "no command")
	r.git(t, "tag", "bare")
	for _, c := range []struct {
		name  string
		dirty bool
		args  []string
		want  string
	}{
		{"one commit", false, []string{"c0"}, "expected two commits or programs, found 1"},
		{"no such commit", false, []string{"c0", "c9"}, `there is no commit called "c9"; name one that git log shows`},
		{"a file", false, []string{"notes", "c0"}, `there is no commit called "notes"`},
		{"a flag", false, []string{"--", "c0", "--all"}, `there is no commit called "--all"`},
		{"changes", true, []string{"c0", "HEAD"}, "the working tree has changes, which would not be measured with commit " + r.git(t, "rev-parse", "HEAD")[:12]},
		{"no gaspi-bench", false, []string{"c0", "bare"}, "no command: it has no cmd/gaspi-bench; name a commit that has"},
		{"no rounds", false, []string{"--rounds", "0", "c0", "c1"}, "--rounds 0: expected at least 1"},
		{"no time", false, []string{"--time", "0s", "c0", "c1"}, "--time 0s: expected more than 0"},
		{"no operations", false, []string{"--operations", "", "c0", "c1"}, "expected at least one of each"},
		{"unwritable rows", false, []string{"--json", "/missing/x", "c0", "c1"}, "--json /missing/x: no such file or directory; name a file that can be written"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := "of a commit without programs"
			if c.dirty {
				text = "changed"
			}
			r.write(t, "notes", text)
			stdout, stderr, code := r.benchdiff(t, c.args...)
			if code != exitUsage || stdout != "" || !strings.HasPrefix(stderr, "benchdiff: ") || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, c.want) {
				t.Errorf("exit code %d, printed %q, said %q; want %d and one line with %q", code, stdout, stderr, exitUsage, c.want)
			}
		})
	}
	t.Run("changes that neither commit is about", func(t *testing.T) {
		r.write(t, "notes", "changed")
		if _, stderr, code := r.benchdiff(t, "--rounds", "1", "c0", "c1"); code != 0 {
			t.Errorf("exit code %d, said %q", code, stderr)
		}
	})
	t.Run("no repository", func(t *testing.T) {
		t.Chdir(t.TempDir())
		t.Setenv("GIT_CEILING_DIRECTORIES", "/")
		_, err := (&commandLine{old: "c0", new: "c1"}).commits(context.Background())
		if err == nil || !strings.Contains(err.Error(), "this is no git repository with files: ") || !strings.HasSuffix(err.Error(), "; run it in one, or name two programs") {
			t.Errorf("error %v", err)
		}
	})
}
