//go:build !race

package pages_test

import (
	"errors"
	"go/ast"
	"go/format"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/internal/testenv"
	"github.com/gaspi-go/gaspi-go/internal/testenv/pages"
)

// The rules for Go code in README.md and the pages of docs/guide:
//
//   - A block that begins with "package main" is a whole program. Behind it stands a block of kind
//     text that begins with "$ ": commands, the first of which that names a source file gives the
//     program its name, and all that they print. They are run in a module of their own, as a user
//     has one, and print the same. Lines may come in another order; the number of a process, and the
//     time after which something happened, may differ.
//   - Each further block of that kind is run in the same directory.
//   - A block that is no program is a fragment. It is checked by the compiler, as the body of a
//     function. A fragment that joins a job by itself, as that of README.md does, is run, too, and
//     prints the same as the Example of package gaspi whose lines it has (gaspi/readme_test.go).
//
// The programs are built without the race detector, so these tests are not run with it.

func TestMain(m *testing.M) { testenv.Main(m, nil) }

const root = "../../.."

// guide returns the pages whose code is held to the rules.
func guide(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(root, "docs/guide/*.md"))
	if err != nil || len(found) == 0 {
		t.Fatalf("pages of docs/guide: %v, %v", found, err)
	}
	return append(found, filepath.Join(root, "README.md"))
}

// blocks returns the blocks of a page.
func blocks(t *testing.T, page string) []pages.Block {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	return pages.Blocks(strings.TrimPrefix(page, root+"/"), string(text))
}

// TestProgramsOfPages compiles and runs the programs of README.md and the guide.
func TestProgramsOfPages(t *testing.T) {
	testenv.Need(t, "sh")
	bin := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-o", bin+"/", "github.com/gaspi-go/gaspi-go/cmd/gaspi-run")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	programs := 0
	for _, page := range guide(t) {
		dir := ""
		var program *pages.Block
		for _, b := range blocks(t, page) {
			switch {
			case program != nil && !b.IsSession():
				t.Errorf("%v: a program without a block of kind text behind it, which begins with $ and shows how it is run", program)
				program = nil
			case b.IsProgram():
				program = &b
			case b.IsGo() && strings.Contains(b.Text, "gaspi.Init("):
				run(t, bin, module(t, b.Framed(), "program.go"), b, []string{"gaspi-run -n 4 --output raw program.go"}, printedByExample(t))
				programs++
			case b.IsSession():
				if dir == "" {
					dir = module(t, "", "")
				}
				if program != nil {
					write(t, dir, b.Source(), program.Text)
					programs++
				}
				program = nil
				commands, printed := b.Session()
				run(t, bin, dir, b, commands, printed)
			}
		}
		if program != nil {
			t.Errorf("%v: nothing says how the program is run", program)
		}
	}
	if programs < 5 {
		t.Errorf("%d programs were found in README.md and docs/guide, want at least 5", programs)
	}
}

// printedByExample returns what Example of package gaspi prints.
func printedByExample(t *testing.T) (lines []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "gaspi/example_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	_, output, _ := strings.Cut(string(text), "// Unordered output:\n")
	output, _, _ = strings.Cut(output, "\n}\n")
	for line := range strings.Lines(output) {
		lines = append(lines, strings.TrimPrefix(strings.TrimSpace(line), "// "))
	}
	return lines
}

// module returns a directory with a module that uses this one, as a user's does, and a source in
// it if that has a name.
func module(t *testing.T, source, name string) string {
	t.Helper()
	dir := t.TempDir()
	full, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		if file == "go.mod" {
			const path = "github.com/gaspi-go/gaspi-go"
			text = []byte(strings.Replace(string(text), "module "+path, "module hello", 1) +
				"\nrequire " + path + " v0.0.0\n\nreplace " + path + " => " + strconv.Quote(full) + "\n")
		}
		write(t, dir, file, string(text))
	}
	write(t, dir, "job.key", strings.Repeat("5e", 32))
	if name != "" {
		write(t, dir, name, source)
	}
	return dir
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// varies matches what of a line differs from run to run, and what takes its place.
var varies = regexp.MustCompile(`\(pid \d+\)|after [\d.]+ m?s\b`)

// run runs commands in a directory, and compares what they print with printed.
func run(t *testing.T, bin, dir string, b pages.Block, commands, printed []string) {
	t.Helper()
	t.Run(strings.ReplaceAll(b.String(), "/", " "), func(t *testing.T) {
		if strings.Contains(strings.Join(commands, "\n"), "--hosts") {
			testenv.Need(t, "ssh") // which is looked for also where nothing is started
		}
		var script strings.Builder
		meeting := address(t, commands)
		for i, command := range commands {
			command = strings.ReplaceAll(command, shownAddress, meeting)
			if i+1 == len(commands) || !strings.HasPrefix(commands[i+1], "echo $?") && !strings.HasSuffix(command, "&") {
				command += " || echo it ended with status $?"
			}
			script.WriteString(command + "\n")
		}
		script.WriteString("wait\n")
		cmd := exec.CommandContext(testenv.Context(t), "sh", "-c", script.String())
		cmd.WaitDelay = 5 * time.Second // for what the commands have left behind with their output
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%v: %v", commands, err)
		}
		got := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
		if len(out) == 0 {
			got = nil
		}
		if d := cmp.Diff(alike(printed), alike(got)); d != "" {
			t.Errorf("%v prints (-page +run):\n%s", commands, d)
		}
	})
}

// shownAddress is where the nodes of a page meet.
const shownAddress = "localhost:7117"

// address is where nodes meet when the commands are run: the port that the page shows may be taken.
func address(t *testing.T, commands []string) string {
	if strings.Contains(strings.Join(commands, "\n"), shownAddress) {
		return testenv.FreeAddress(t)
	}
	return shownAddress
}

// alike returns lines sorted, without what differs from run to run.
func alike(lines []string) []string {
	var sorted []string
	for _, line := range lines {
		sorted = append(sorted, varies.ReplaceAllString(line, "..."))
	}
	slices.Sort(sorted)
	return sorted
}

// TestGoOfPages: Go code of README.md and the guide has the form of gofmt, and types that fit.
func TestGoOfPages(t *testing.T) {
	fset := token.NewFileSet()
	imports := importer.ForCompiler(fset, "gc", exports(t))
	for _, page := range guide(t) {
		for _, b := range blocks(t, page) {
			if !b.IsGo() {
				continue
			}
			if formatted, err := format.Source([]byte(b.Text)); err != nil || string(formatted) != b.Text {
				t.Errorf("%v is not as gofmt has it: %v\n%s", b, err, formatted)
				continue
			}
			file, err := parser.ParseFile(fset, b.String(), b.Framed(), 0)
			if err != nil {
				t.Errorf("%v: %v", b, err)
				continue
			}
			check := types.Config{Importer: imports, Error: func(err error) {
				// A variable that only the lines after a fragment would use is a soft error.
				if fault, ok := errors.AsType[types.Error](err); !ok || !fault.Soft || b.IsProgram() {
					t.Errorf("%v: %v\n%s", b, err, b.Text)
				}
			}}
			_, _ = check.Check("main", fset, []*ast.File{file}, nil) // its errors are reported
		}
	}
}

// exports returns how an importer finds the packages that code of pages may import.
func exports(t *testing.T) importer.Lookup {
	t.Helper()
	args := []string{"list", "-buildvcs=false", "-export", "-deps", "-f", "{{.ImportPath}}={{.Export}}"}
	for _, name := range []string{"gaspi", "collectives", "ssp", "hoplite", "segment", "launcher"} {
		args = append(args, "github.com/gaspi-go/gaspi-go/"+name)
	}
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), "=")
		files[path] = file
	}
	return func(path string) (io.ReadCloser, error) {
		if files[path] == "" {
			return nil, errors.New("no package of a page: " + path)
		}
		return os.Open(files[path])
	}
}

// TestGuideIsShort counts the words of docs/guide, and looks at the length of lines.
func TestGuideIsShort(t *testing.T) {
	const mostWords, longest = 9000, 120
	words := 0
	for _, page := range guide(t) {
		if strings.HasSuffix(page, "/README.md") && !strings.Contains(page, "guide") {
			continue
		}
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		words += len(strings.Fields(string(text)))
		number := 0
		for line := range strings.Lines(string(text)) {
			number++
			if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > longest && !strings.HasPrefix(line, "|") {
				t.Errorf("%s:%d: a line of %d characters; want at most %d", page, number, n, longest)
			}
		}
	}
	if words > mostWords {
		t.Errorf("the pages of docs/guide have %d words; want at most %d", words, mostWords)
	}
}
