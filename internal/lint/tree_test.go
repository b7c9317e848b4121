package lint

import (
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// module loads this module once for all tests of a run.
var module = sync.OnceValues(func() (*tree, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	root, err := findRoot(dir)
	if err != nil {
		return nil, err
	}
	return loadTree(root)
})

// loadModule returns the parsed module, and refuses one that is suspiciously
// small: a checker that sees no files finds no problems.
func loadModule(t *testing.T) *tree {
	t.Helper()
	m, err := module()
	if err != nil {
		t.Fatal(err)
	}
	if len(m.files) < 10 || m.module == "" {
		t.Fatalf("only %d Go files found under %s (module %q): the walk is broken", len(m.files), m.root, m.module)
	}
	return m
}

// fake makes a module called m out of sources by path.
func fake(t *testing.T, sources map[string]string) *tree {
	t.Helper()
	m := &tree{root: t.TempDir(), module: "example.org/m", fset: token.NewFileSet()}
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		data := sources[name]
		file := filepath.Join(m.root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(data), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := m.add(file, name); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

// report fails the test with one line per problem.
func report(t *testing.T, problems []string) {
	t.Helper()
	for _, p := range problems {
		t.Error(p)
	}
}

// expect compares problems with substrings, one per expected problem, in order.
func expect(t *testing.T, got []string, want ...string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("got %d problems, want %d:\n%s", len(got), len(want), strings.Join(got, "\n"))
	}
	for i := range want {
		if !strings.Contains(got[i], want[i]) {
			t.Errorf("problem %d:\n got  %s\n want %s", i, got[i], want[i])
		}
	}
}

func TestLoadTreeLeavesOut(t *testing.T) {
	root := t.TempDir()
	for name, data := range map[string]string{
		"go.mod":            "module example.org/m\n",
		".gitignore":        "/bin/\n*.prof\n",
		"a/a.go":            "package a\n",
		"a/testdata/bad.go": "not Go at all",
		"a/cpu.prof":        "text",
		"a/data.bin":        "zero\x00byte",
		"bin/tool.go":       "not Go either",
		".git/x.go":         "nor this",
		".ci/run":           "#!/bin/bash\n",
	} {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(data), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	m, err := loadTree(root)
	if err != nil {
		t.Fatal(err)
	}
	if m.module != "example.org/m" {
		t.Errorf("module %q", m.module)
	}
	if len(m.files) != 1 || m.files[0].path != "a/a.go" {
		t.Errorf("Go files: %v, want a/a.go alone", m.files)
	}
	var texts []string
	for _, f := range m.texts {
		texts = append(texts, f.path)
	}
	want := ".ci/run .gitignore a/a.go a/testdata/bad.go go.mod"
	if got := strings.Join(texts, " "); got != want {
		t.Errorf("texts: %s\nwant:  %s", got, want)
	}
}

func TestLoadTreeSaysWhatDoesNotParse(t *testing.T) {
	root := t.TempDir()
	for name, data := range map[string]string{"go.mod": "module m\n", "bad.go": "package\n"} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(data), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := loadTree(root); err == nil || !strings.Contains(err.Error(), "bad.go:1") {
		t.Errorf("got %v, want an error that names bad.go", err)
	}
}
