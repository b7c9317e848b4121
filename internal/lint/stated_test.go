package lint

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestImportTableNamesOnlyWhatExists: a table that names a package or a module that is
// not there states a policy about nothing.
func TestImportTableNamesOnlyWhatExists(t *testing.T) {
	rules, err := parseRules(table)
	if err != nil {
		t.Fatal(err)
	}
	m := loadModule(t)
	var required strings.Builder
	for _, f := range []string{"go.mod", "internal/reduce/asm/go.mod", "examples/fft/distfft/internal/line/asm/go.mod"} {
		text, err := os.ReadFile(filepath.Join(m.root, f))
		if err != nil {
			t.Fatal(err)
		}
		required.Write(text)
	}
	named := slices.Concat(slices.Collect(maps.Keys(rules.may)), slices.Concat(slices.Collect(maps.Values(rules.may))...), slices.Collect(maps.Keys(advice)))
	slices.Sort(named)
	report(t, checkNamed(m, required.String(), slices.Compact(named)))
}

// checkNamed reports names of an import table that are neither a package of the module,
// nor of a required module, nor words of the table itself.
func checkNamed(m *tree, required string, named []string) []string {
	var bad []string
	for _, name := range named {
		dir := strings.TrimSuffix(name, "/...")
		switch {
		case slices.Contains([]string{"NONE", "TEST", "unsafe", "C"}, name):
		case strings.Contains(strings.Split(dir, "/")[0], "."):
			if !slices.ContainsFunc(strings.Fields(required), func(module string) bool {
				return strings.Contains(module, ".") && (dir == module || strings.HasPrefix(dir, module+"/"))
			}) {
				bad = append(bad, fmt.Sprintf("the import table names %s, which is of no module in go.mod; take it out", name))
			}
		case !slices.ContainsFunc(m.files, func(f *goFile) bool {
			return f.dir == dir || dir != name && strings.HasPrefix(f.dir, dir+"/")
		}):
			bad = append(bad, fmt.Sprintf("the import table names %s, where there is no package; take it out", name))
		}
	}
	return bad
}

func TestCheckNamed(t *testing.T) {
	m := fake(t, map[string]string{"a/b/x.go": "package b\n", "c/x.go": "package c\n"})
	const required = "require (\n\texample.com/dep v1.0.0\n)"
	good := []string{"NONE", "C", "a/b", "a/...", "c", "example.com/dep/sub/...", "example.com/dep"}
	expect(t, checkNamed(m, required, good))
	expect(t, checkNamed(m, required, []string{"a", "c/d", "d/...", "example.com/depth", "example.com/other/..."}),
		"names a, ", "names c/d, ", "names d/..., ", "names example.com/depth, ", "names example.com/other/..., ")
}

// TestLimitsAreStatedAsTheyAre: whoever reads the pages finds the numbers that the tests use.
func TestLimitsAreStatedAsTheyAre(t *testing.T) {
	for _, m := range loadModule(t).texts {
		want := ""
		switch m.path {
		case "docs/STYLE.md":
			want = fmt.Sprintf("A function has at most %d lines, a file at most %d", maxFuncLines, maxFileLines)
		case "CONTRIBUTING.md":
			want = fmt.Sprintf("(at most %d lines), functions of at most %d lines", maxFileLines, maxFuncLines)
		default:
			continue
		}
		if !strings.Contains(m.data, want) {
			t.Errorf("%s does not say %q", m.path, want)
		}
	}
}

// TestCodeInStyleExists: code that a page shows as ours is ours, comments included.
func TestCodeInStyleExists(t *testing.T) {
	m := loadModule(t)
	for _, text := range m.texts {
		if text.path == "docs/STYLE.md" {
			shown, bad := checkShown(m, text.data)
			report(t, bad)
			if shown < 1 {
				t.Errorf("%d pieces of code were recognised in %s, want at least 1", shown, text.path)
			}
			return
		}
	}
	t.Error("there is no docs/STYLE.md")
}

var fenced = regexp.MustCompile("(?s)```go\n(.*?)```")

// checkShown compares functions and package comments in the Go blocks of a page with
// the module's. A function may be shown without its body. It returns how many there are.
func checkShown(m *tree, page string) (shown int, bad []string) {
	for _, block := range fenced.FindAllStringSubmatch(page, -1) {
		fset := token.NewFileSet()
		src := block[1]
		if !strings.Contains(src, "\npackage ") {
			src = "package p\n" + src
		}
		file, err := parser.ParseFile(fset, "", src, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			continue // a part of a declaration
		}
		if file.Doc != nil {
			shown++
			if !slices.ContainsFunc(m.files, func(f *goFile) bool { return f.ast.Doc.Text() == file.Doc.Text() && f.ast.Name.Name == file.Name.Name }) {
				bad = append(bad, fmt.Sprintf("package %s has another comment than the one shown", file.Name.Name))
			}
		}
		for _, d := range file.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			shown++
			want := rendered(fset, fn, fn.Body != nil)
			if !slices.ContainsFunc(m.files, func(f *goFile) bool {
				return slices.ContainsFunc(f.ast.Decls, func(d ast.Decl) bool {
					real, ok := d.(*ast.FuncDecl)
					return ok && real.Name.Name == fn.Name.Name && rendered(f.fset, real, fn.Body != nil) == want
				})
			}) {
				bad = append(bad, fmt.Sprintf("there is no such code: %s", want))
			}
		}
	}
	return shown, bad
}

// rendered is a function as text, with its comment, and with its body or without.
func rendered(fset *token.FileSet, fn *ast.FuncDecl, body bool) string {
	without := *fn
	without.Doc = nil
	if !body {
		without.Body = nil
	}
	var b bytes.Buffer
	b.WriteString(fn.Doc.Text())
	if err := printer.Fprint(&b, fset, &without); err != nil {
		return err.Error()
	}
	return b.String()
}

func TestCheckShown(t *testing.T) {
	m := fake(t, map[string]string{"p/a.go": "// Package p is p.\npackage p\n\n// F does.\nfunc (x *T) F(a, b int) error {\n\treturn nil\n}\n"})
	block := func(code string) string { return "text\n```go\n" + code + "\n```\n" }
	shown, bad := checkShown(m, block("// Package p is p.\npackage p")+block("// F does.\nfunc (x *T) F(a, b int) error")+
		block("// F does.\nfunc (x *T) F(a, b int) error {\n\treturn nil\n}")+block("mu sync.Mutex // of no declaration"))
	if expect(t, bad); shown != 3 {
		t.Errorf("%d pieces, want 3", shown)
	}
	_, bad = checkShown(m, block("// Package p is q.\npackage p")+block("// F did.\nfunc (x *T) F(a, b int) error")+
		block("// F does.\nfunc (x *T) F(a int) error")+block("// F does.\nfunc (x *T) F(a, b int) error {\n\treturn err\n}"))
	expect(t, bad, "package p has another comment", "no such code: F did.", "no such code: F does.\nfunc (x *T) F(a int)", "return err")
}
