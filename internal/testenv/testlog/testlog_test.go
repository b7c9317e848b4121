package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the texts of testdata anew")

// tried runs the command on events, and returns its answer, what it prints, and the record.
func tried(t *testing.T, skips, events string) (good bool, text, record string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "record.json")
	var out bytes.Buffer
	good, err := run([]string{"-skips", skips, file}, strings.NewReader(events), &out)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return good, out.String(), string(kept)
}

// TestEventsOfGo: the events are those that go test -json wrote of packages whose tests fail,
// skip, crash, wait and print in each other's lines.
func TestEventsOfGo(t *testing.T) {
	for _, c := range []struct {
		name string
		good bool
	}{
		{"subtests", false}, // failed and skipped, and a line without an end before a result
		{"panic", false},    // behind more lines than are said again
		{"timeout", false},
		{"parallel", false}, // the output of one test ends in the middle of a line
		{"main", false},     // TestMain exits with another status than 0
		{"build", false},
		{"setup", false}, // an import that is not there
		{"empty", true},  // no test files
		{"twice", true},  // -count=2
		{"cached", true}, // a package that would be the slowest
	} {
		t.Run(c.name, func(t *testing.T) {
			events, err := os.ReadFile(filepath.Join("testdata", c.name+".json"))
			if err != nil {
				t.Fatal(err)
			}
			good, text, record := tried(t, "cores", string(events))
			if good != c.good {
				t.Errorf("good is %v, want %v", good, c.good)
			}
			if record != string(events) {
				t.Error(cmp.Diff(string(events), record))
			}
			golden := filepath.Join("testdata", c.name+".txt")
			if *update {
				if err := os.WriteFile(golden, []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), text); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// said is the event of output of a test, or of its package if the test has no name.
func said(path, test, text string) string {
	return fmt.Sprintf("{\"Action\":\"output\",\"Package\":%q,\"Test\":%q,\"Output\":%q}\n", path, test, text)
}

// at is the event of another action.
func at(action, path, test string) string {
	return fmt.Sprintf("{\"Action\":%q,\"Package\":%q,\"Test\":%q,\"Elapsed\":1}\n", action, path, test)
}

// skipped is the events of a test that is skipped with a message.
func skipped(message string) string {
	return at("start", "p", "") + at("run", "p", "TestA") + said("p", "TestA", message) + at("skip", "p", "TestA") + at("pass", "p", "")
}

func TestEvents(t *testing.T) {
	begun := at("start", "p", "") + at("run", "p", "TestA")
	passed := begun + at("pass", "p", "TestA") + at("pass", "p", "")
	for _, c := range []struct {
		name, skips, events string
		good                bool
		want                string // is in the text
	}{
		{"nothing", "", "", false, "0 packages"},
		{"passed", "", passed, true, "1 tests passed (with subtests), 0 failed, 0 did not end, 0 skipped; 1 packages"},
		{"a line that is no event", "", "go: text\n" + passed + "{\"more\":1}", true, "go: text\n{\"more\":1}\n"},
		{"the last line without an end", "", strings.TrimSuffix(passed, "\n"), true, "1 tests passed"},
		{"of two commands", "", passed + passed, true, "ran more than once:\n2 times  p TestA\n"},
		{"only the last run passes", "", begun + at("fail", "p", "TestA") + at("fail", "p", "") + passed, false, "failed:\np TestA\np\n"},
		{"cut off in a test", "", begun + said("p", "TestA", "wor"), false, "wor\n"},
		{"cut off in a test, again", "", begun + said("p", "TestA", "wor"), false, "failed:\np TestA: did not end\nwor\np: did not end\n"},
		{"cut off in a package", "", begun + at("pass", "p", "TestA"), false, "failed:\np: did not end\n"},
		{"ends without a result", "", begun + at("pass", "p", ""), false, "failed:\np TestA: did not end\n"},
		{"only a build fails", "", passed + "{\"Action\":\"build-fail\",\"ImportPath\":\"q\"}\n", false, "failed:\nbuild of q\n"},
		{"a long line in parts", "", begun + said("p", "TestA", "one ") + said("p", "TestA", "line\n") + at("fail", "p", "TestA") + at("fail", "p", ""), false, "failed:\np TestA\none line\n"},
		{"packages together", "", begun + at("start", "q", "") + said("q", "", "of q\n") + at("pass", "q", "") + said("p", "TestA", "of p\n") + at("pass", "p", "TestA") + at("pass", "p", ""), true, "of p\nof q\n"},
		{"skipped for a reason", "CPU|cores", skipped("    a_test.go:1: needs 2 cores\n"), true, "skipped:\np TestA: needs 2 cores\n"},
		{"skipped for another", "CPU|cores", skipped("    a_test.go:1: no git\n"), false, "than CPU|cores; what this machine lacks belongs into the list of .ci/run, wanted:\np TestA: no git\n"},
		{"skipped for any", "", skipped(""), true, "p TestA: no reason given\n"},
		{"skipped where none may", "^$", skipped(""), false, "p TestA: no reason given\n"},
		{"skipped for a reason of two lines", "cores", skipped("    a_test.go:1: before\n    a_test.go:2: needs\n        2 cores\nafter\n"), true, "p TestA: needs; 2 cores\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			good, text, _ := tried(t, c.skips, c.events)
			if good != c.good || !strings.Contains(text, c.want) {
				t.Errorf("good is %v, want %v; want %q in\n%s", good, c.good, c.want, text)
			}
		})
	}
}

// TestOutputIsShownAsItComes: of the first package, whole lines; of another, nothing before it.
func TestOutputIsShownAsItComes(t *testing.T) {
	var record, out bytes.Buffer
	r := newReader(&record, &out)
	for _, step := range []struct{ event, want string }{
		{said("p", "", "one\ntw"), "one\n"},
		{said("q", "", "three\n"), ""},
		{at("pass", "q", ""), ""},
		{said("p", "", "o\n"), "two\n"},
		{at("pass", "p", ""), "three\n"},
	} {
		out.Reset()
		if err := r.follow([]byte(step.event)); err != nil {
			t.Fatal(err)
		}
		if out.String() != step.want {
			t.Errorf("after %s%q is shown, want %q", step.event, out.String(), step.want)
		}
	}
}

func TestRefusedArguments(t *testing.T) {
	folder := t.TempDir()
	for _, args := range [][]string{nil, {"a", "b"}, {"-other", "a"}, {"-skips", "(", "a"}, {folder}} {
		if _, err := run(args, strings.NewReader(""), &bytes.Buffer{}); err == nil {
			t.Errorf("%q are accepted", args)
		}
	}
}
