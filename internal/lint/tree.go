package lint

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// A goFile is one parsed Go source file, whatever its build constraints say.
type goFile struct {
	path      string // relative to the module's root, with slashes
	dir       string // folder of path; "." for the root
	test      bool   // the name ends in _test.go
	generated bool   // carries the standard "Code generated" line
	lines     int
	fset      *token.FileSet
	ast       *ast.File
}

// A tree is a module as the checkers see it.
type tree struct {
	root   string // absolute
	module string // path from go.mod
	fset   *token.FileSet
	files  []*goFile
	texts  []textFile // every readable file, Go sources included
}

// A textFile is any file of the module that is text and not huge.
type textFile struct {
	path string // relative to the module's root, with slashes
	data string
}

// maxText keeps data sets and pictures that happen to lie in the tree from
// being read; no hand-written file comes near it.
const maxText = 1 << 20

// at formats a position the way compilers do, so that editors can jump to it.
func (f *goFile) at(pos token.Pos) string {
	return fmt.Sprintf("%s:%d", f.path, f.fset.Position(pos).Line)
}

// parseGo parses one source. The path decides what the file counts as.
func parseGo(fset *token.FileSet, name, src string) (*goFile, error) {
	parsed, err := parser.ParseFile(fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	return &goFile{
		path:      name,
		dir:       path.Dir(name),
		test:      strings.HasSuffix(name, "_test.go"),
		generated: ast.IsGenerated(parsed),
		lines:     strings.Count(src, "\n"),
		fset:      fset,
		ast:       parsed,
	}, nil
}

// findRoot walks up from dir to the folder that holds go.mod.
func findRoot(dir string) (string, error) {
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", errors.New("no go.mod in this folder or above it")
		}
		dir = up
	}
}

// loadTree reads the module at root. It leaves out what git ignores, folders
// whose names start with a dot (but for .ci), and Go sources under testdata.
func loadTree(root string) (*tree, error) {
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return nil, err
	}
	t := &tree{root: root, module: modulePath(string(mod)), fset: token.NewFileSet()}
	ignore, err := os.ReadFile(filepath.Join(root, ".gitignore"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	patterns := strings.Fields(string(ignore))

	err = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				return nil // removed while we walked: another test's build output
			}
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			hidden := strings.HasPrefix(d.Name(), ".") && rel != "." && rel != ".ci" && rel != ".github"
			if hidden || ignored(patterns, rel+"/") {
				return fs.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() || ignored(patterns, rel) || rel == ".git" { // a file in a worktree
			return nil
		}
		return t.add(name, rel)
	})
	return t, err
}

// add reads one file and, if it is Go source of the module, parses it.
func (t *tree) add(name, rel string) error {
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() > maxText {
		return nil
	}
	if err != nil {
		return err
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if slices.Contains(data, 0) {
		return nil // not text
	}
	t.texts = append(t.texts, textFile{rel, string(data)})
	if !strings.HasSuffix(rel, ".go") || slices.Contains(strings.Split(rel, "/"), "testdata") {
		return nil
	}
	f, err := parseGo(t.fset, rel, string(data))
	if err != nil {
		return err
	}
	t.files = append(t.files, f)
	return nil
}

// ignored reports whether one of the .gitignore patterns matches. It knows the
// two forms that our .gitignore uses: "/folder/" at the root and "*.suffix".
func ignored(patterns []string, rel string) bool {
	for _, p := range patterns {
		if strings.HasPrefix(p, "/") && rel == p[1:] {
			return true
		}
		if ok, _ := path.Match(p, path.Base(rel)); ok && strings.HasPrefix(p, "*") {
			return true
		}
	}
	return false
}

// modulePath finds the module line of a go.mod.
func modulePath(mod string) string {
	for line := range strings.Lines(mod) {
		if rest, ok := strings.CutPrefix(line, "module "); ok {
			return strings.TrimSpace(rest)
		}
	}
	return ""
}
