package lint

import (
	"flag"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var updateAPI = flag.Bool("update-api", false, "write the texts of the public interface anew")

// The public interface is the one that api/ states: a change of it is seen in a review. After
// one that is meant, run "go test ./internal/lint -run TestAPI -update-api".
func TestAPI(t *testing.T) {
	m := loadModule(t)
	texts, err := apiOf(m.root, m.files)
	if err != nil {
		t.Fatal(err)
	}
	if *updateAPI {
		writeAPI(t, m.root, texts)
	}
	const after = `; if that is meant, run "go test ./internal/lint -run TestAPI -update-api"`
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		stated, err := os.ReadFile(filepath.Join(m.root, name))
		if err != nil {
			t.Errorf("%v%s", err, after)
		} else if line := firstDifference(string(stated), texts[name]); line != "" {
			t.Errorf("the interface differs from %s: %s%s", name, line, after)
		}
	}
	stated, err := filepath.Glob(filepath.Join(m.root, apiDir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range stated {
		if name := path.Join(apiDir, filepath.Base(file)); texts[name] == "" {
			t.Errorf("%s states the interface of no package%s", name, after)
		}
	}
}

func writeAPI(t *testing.T, root string, texts map[string]string) {
	t.Helper()
	dir := filepath.Join(root, apiDir)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	for name, text := range texts {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// firstDifference returns the first line of which one text has more than the other, or "".
func firstDifference(stated, found string) string {
	if stated == found {
		return ""
	}
	old, now := strings.Split(stated, "\n"), strings.Split(found, "\n")
	for i, line := range now {
		if i >= len(old) || old[i] != line {
			return "it has " + line
		}
	}
	return "it lacks " + old[len(now)]
}

// The text of an interface has what is exported and nothing else.
func TestAPIText(t *testing.T) {
	dir := t.TempDir()
	for name, source := range map[string]string{
		"p.go": `// Package p is for a test.
package p

// A T has fields.
type T struct {
	A, b int // fields
	c    string
}

type hidden int

// M does nothing.
func (t *T) M(x int) error { return nil }
func (t *T) m()            {}
func (hidden) N()          {}

// New makes a T.
func New[E any](e E) *T { return nil }

const (
	One = iota // the first
	two
	Three
)

var V, w = 1, 2
`,
		"p_windows.go": "package p\n\nfunc Elsewhere() {}\n",
		"tagged.go":    "//go:build rdma\n\npackage p\n\nfunc Tagged() {}\n",
		"p_test.go":    "package p\n\nfunc Tested() {}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(source), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example.org/p\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	m, err := loadTree(dir)
	if err != nil {
		t.Fatal(err)
	}
	text, err := packageAPI(m.root, ".", m.files)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"type T struct {\n\tA int\n\t// ", "func (t *T) M(x int) error\n", "func New[E any](e E) *T\n", "One", "Three", "var V"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
	for _, never := range []string{"hidden", "two", "Elsewhere", "Tagged", "Tested", "nothing", "return"} {
		if strings.Contains(text, never) {
			t.Errorf("%q in:\n%s", never, text)
		}
	}
}
