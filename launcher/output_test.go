package launcher

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

func TestLabelledOutput(t *testing.T) {
	cfg := shell(3, `printf 'one\n\ntwo\nlast of %s' $GASPI_RANK; printf 'error %s\n' $GASPI_RANK >&2`)
	o, err := runJob(t, cfg)
	if err != nil {
		t.Fatal(err)
	}
	for r := range 3 {
		if d := cmp.Diff([]string{"one", "", "two", fmt.Sprintf("last of %d", r)}, linesOf(o.stdout, r)); d != "" {
			t.Errorf("rank %d stdout (-want +got):\n%s", r, d)
		}
		if d := cmp.Diff([]string{fmt.Sprintf("error %d", r)}, linesOf(o.stderr, r)); d != "" {
			t.Errorf("rank %d stderr (-want +got):\n%s", r, d)
		}
	}
}

func TestLinesAreNeverInterleaved(t *testing.T) {
	cfg := shell(4, `i=0; while [ $i -lt 300 ]; do printf 'aaaaaaaa'; printf 'bbbbbbbb\n'; i=$((i+1)); done`)
	o, err := runJob(t, cfg)
	if err != nil {
		t.Fatal(err)
	}
	for r := range 4 {
		if d := cmp.Diff(slices.Repeat([]string{"aaaaaaaabbbbbbbb"}, 300), linesOf(o.stdout, r)); d != "" {
			t.Errorf("rank %d (-want +got):\n%s", r, d)
		}
	}
}

func TestRawOutputPassesThrough(t *testing.T) {
	cfg := shell(1, `printf 'no newline, \r and \0 too'`)
	cfg.Output = OutputRaw
	o, err := runJob(t, cfg)
	if want := "no newline, \r and \x00 too"; err != nil || o.stdout != want {
		t.Errorf("to a writer: %q, %v; want %q", o.stdout, err, want)
	}
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	cfg.Stdout = file
	if _, err := runJob(t, cfg); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(file.Name())
	if want := "no newline, \r and \x00 too"; err != nil || string(got) != want {
		t.Errorf("to a file: %q, %v; want %q", got, err, want)
	}
}

func TestOutputToADirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "logs")
	cfg := shell(2, `echo "out $GASPI_RANK $GASPI_OUTPUT_TTY"; echo err >&2`)
	cfg.Output, cfg.OutputDir = OutputDir, dir
	for range 2 { // the second run replaces what the first wrote
		if o, err := runJob(t, cfg); err != nil || o.stdout+o.stderr != "" {
			t.Fatalf("%v, %+v", err, o)
		}
	}
	want := map[string]string{"0.stdout": "out 0 0\n", "1.stdout": "out 1 0\n", "0.stderr": "err\n", "1.stderr": "err\n"}
	got := map[string]string{}
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		text, _ := os.ReadFile(filepath.Join(dir, e.Name()))
		got[e.Name()] = string(text)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	cfg.OutputDir = filepath.Join(dir, "0.stdout", "below-a-file")
	if _, err := runJob(t, cfg); err == nil || !strings.Contains(err.Error(), "0.stdout") {
		t.Errorf("a directory that cannot be made: %v", err)
	}
}

// TestOutputIsWrittenToNothingElse puts into the directory what somebody else may have put
// there to have another file overwritten, or to make the job wait.
func TestOutputIsWrittenToNothingElse(t *testing.T) {
	for _, c := range []struct {
		name, want string
		plant      func(precious, path string) error
	}{
		{"link", "is a symbolic link", os.Symlink},
		{"dangling link", "is a symbolic link", func(precious, path string) error { return os.Symlink(precious+"-new", path) }},
		{"second name", "is a second name of another file", os.Link},
		{"pipe", "is no regular file", func(_, path string) error { return syscall.Mkfifo(path, 0o600) }},
		{"directory", "is no regular file", func(_, path string) error { return os.Mkdir(path, 0o700) }},
	} {
		for _, list := range []string{"", "a:2"} {
			t.Run(c.name+" "+list, func(t *testing.T) {
				dir, precious := t.TempDir(), filepath.Join(t.TempDir(), "precious")
				if err := os.WriteFile(precious, []byte("text"), 0o600); err != nil {
					t.Fatal(err)
				}
				if err := c.plant(precious, filepath.Join(dir, "1.stderr")); err != nil {
					t.Fatal(err)
				}
				cfg := shell(2, "echo out; echo err >&2")
				if list != "" {
					cfg.Ranks = 0
					cfg = onHosts(t, cfg, list)
				}
				cfg.Output, cfg.OutputDir = OutputDir, dir
				_, err := runJob(t, cfg)
				if err == nil || !strings.Contains(err.Error(), dir+"/1.stderr "+c.want) || !strings.Contains(err.Error(), "remove it") {
					t.Errorf("%v, want that it %s", err, c.want)
				}
				text, err := os.ReadFile(precious)
				if left, _ := filepath.Glob(precious + "*"); err != nil || string(text) != "text" || len(left) != 1 {
					t.Errorf("the other file is now %q, %v; %v", text, err, left)
				}
			})
		}
	}
}

func TestStandardFilesAreOrdinary(t *testing.T) {
	o, err := runJob(t, role("flags", 1))
	if err != nil || o.stdout != "[0] nonblocking false\n" {
		t.Errorf("%q, %v", o.stdout, err)
	}
}

func TestInputGoesToRankZero(t *testing.T) {
	file := filepath.Join(t.TempDir(), "in")
	if err := os.WriteFile(file, []byte("first\nsecond\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	in, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	cfg := shell(3, `while read line; do echo "got $line"; done; echo end`)
	cfg.Stdin = in
	o, err := runJob(t, cfg)
	if err != nil {
		t.Fatal(err)
	}
	want := [][]string{{"got first", "got second", "end"}, {"end"}, {"end"}}
	for r := range want {
		if d := cmp.Diff(want[r], linesOf(o.stdout, r)); d != "" {
			t.Errorf("rank %d (-want +got):\n%s", r, d)
		}
	}
}

// Goal: input that cannot be read is told, and no end of it that nobody has seen; a rank of this host sees that itself.
// Method: a directory as the input of rank 0 on another host, and an empty file.
func TestInputThatCannotBeRead(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		t.TempDir(): "cannot read the input of rank 0: is a directory; the rank finds its end there\n",
		empty:       "",
	} {
		in, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		cfg := onHosts(t, shell(0, `while read line; do echo "got $line"; done; echo end`), "a:2")
		cfg.Stdin = in
		o, err := runJob(t, cfg)
		if err != nil || o.ExitCode != 0 || o.notice != want || o.stdout == "" {
			t.Errorf("%s: %v, %+v, want the notice %q", path, err, o, want)
		}
	}
}

// A fullDevice takes a little, and then nothing more.
type fullDevice struct{ err error }

func (d fullDevice) Write([]byte) (int, error) { return 0, d.err }

func TestOutputThatNobodyTakesEndsTheJob(t *testing.T) {
	cases := []struct {
		name   string
		err    error
		code   int
		notice string
	}{
		{"closed pipe", &os.PathError{Op: "write", Path: "|1", Err: syscall.EPIPE}, 141, ""},
		{"full disk", syscall.ENOSPC, 1, "cannot write the output: no space left on device; ended the 2 ranks\n"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			cfg := shell(2, `while :; do echo y; done`)
			cfg.Stdout = fullDevice{c.err}
			o, err := runJob(t, cfg)
			if err != nil || o.ExitCode != c.code || o.notice != c.notice {
				t.Errorf("exit code %d, notice %q, %v; want %d, %q", o.ExitCode, o.notice, err, c.code, c.notice)
			}
		})
	}
}

// A lateDevice takes nothing, and says so no sooner than the job is over.
type lateDevice struct {
	over <-chan struct{}
	err  error
}

func (d lateDevice) Write([]byte) (int, error) {
	<-d.over
	return 0, d.err
}

// Goal: output that cannot be written is told, and is in the exit code, also if that is known after the last rank has ended.
// Method: a device whose first write returns when the job is over, on this host, on another one, and at a node of two.
func TestOutputThatNobodyTakesInTheEnd(t *testing.T) {
	const full = "cannot write the output: no space left on device\n"
	cases := []struct {
		name, hosts string
		output      Output
		err         error
		code        int
		notice      string
	}{
		{"full disk", "", OutputLabel, syscall.ENOSPC, 1, full},
		{"full disk, raw", "", OutputRaw, syscall.ENOSPC, 1, full},
		{"full disk, another host", "a:1", OutputLabel, syscall.ENOSPC, 1, full},
		{"closed pipe", "", OutputLabel, syscall.EPIPE, 141, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			cfg := shell(1, `echo y`)
			if c.hosts != "" {
				cfg = onHosts(t, cfg, c.hosts)
			}
			over := make(chan struct{})
			cfg.Output, cfg.Stdout, cfg.Stacks = c.output, lateDevice{over, c.err}, t.TempDir()
			cfg.Observe = func(job *Observer) {
				go func() {
					defer close(over)
					testenv.Eventually(t, "the end of the ranks", func() bool { return len(job.Look().Ranks) == 0 })
				}()
			}
			o, err := runJob(t, cfg)
			if err != nil || o.ExitCode != c.code || o.notice != c.notice {
				t.Errorf("exit code %d, notice %q, %v; want %d, %q", o.ExitCode, o.notice, err, c.code, c.notice)
			}
		})
	}
	t.Run("node", func(t *testing.T) {
		var results [2]Result
		var errs [2]error
		over, left := make(chan struct{}), make(chan struct{})
		for n, node := range nodesHere(t, 2) {
			cfg := shell(1, `echo y`)
			cfg.Node, cfg.Interface, cfg.Stdout, cfg.Stderr = node, "127.0.0.1", &capture{}, &capture{}
			if n == 1 {
				cfg.Stdout = lateDevice{over, syscall.ENOSPC}
			}
			go func() {
				results[n], errs[n] = Run(t.Context(), cfg)
				if n == 0 {
					close(over)
				} else {
					close(left)
				}
			}()
		}
		<-left
		if errs != [2]error{} || results[0].ExitCode != 0 || results[1].ExitCode != 1 || results[1].Sentence+"\n" != full {
			t.Errorf("%+v, %v; want that node 1 has %q", results, errs, full)
		}
	})
}
