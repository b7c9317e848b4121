package faults

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// covered are calls that have no row, and why.
var covered = map[string]string{
	"gaspi.Local": "it runs each cell of TestMatrix, and ends when its ranks do",
	"gaspi.Init":  "ranks are lost while they join in TestJoin and in the cells of processes",
}

// TestEveryCallHasARow finds exported functions and methods that take a context: each has
// a row, and each row has its function.
func TestEveryCallHasARow(t *testing.T) {
	var found []string
	for _, pkg := range []string{"gaspi", "collectives", "ssp", "hoplite"} {
		found = append(found, blocking(t, pkg)...)
	}
	have := map[string]bool{}
	for _, x := range rows() {
		have[x.call] = true
		if !slices.Contains(found, x.call) {
			t.Errorf("there is a row of %s, but no such function takes a context", x.call)
		}
	}
	for _, call := range found {
		if !have[call] && covered[call] == "" {
			t.Errorf("%s takes a context, and no row says how it ends when a rank is lost: add one to the rows of its package", call)
		}
		if have[call] && covered[call] != "" {
			t.Errorf("%s has a row, and a reason why it has none", call)
		}
	}
	if len(found) < 70 {
		t.Errorf("only %d functions were found; this test looks in the wrong place", len(found))
	}
}

// blocking are the exported functions and methods of a package whose first parameter is a
// context.
func blocking(t *testing.T, pkg string) []string {
	t.Helper()
	dir := filepath.Join("..", "..", pkg)
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range files {
		if isSource(f) {
			parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, f.Name()), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, blockingIn(pkg, parsed)...)
		}
	}
	return names
}

func isSource(f fs.DirEntry) bool {
	return strings.HasSuffix(f.Name(), ".go") && !strings.HasSuffix(f.Name(), "_test.go")
}

func blockingIn(pkg string, file *ast.File) []string {
	var names []string
	for _, d := range file.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || !fn.Name.IsExported() || !takesContext(fn.Type) {
			continue
		}
		name := fn.Name.Name
		if fn.Recv != nil {
			of := receiver(fn.Recv.List[0].Type)
			if !ast.IsExported(of) {
				continue
			}
			name = of + "." + name
		}
		names = append(names, pkg+"."+name)
	}
	return names
}

func takesContext(f *ast.FuncType) bool {
	if len(f.Params.List) == 0 {
		return false
	}
	sel, ok := f.Params.List[0].Type.(*ast.SelectorExpr)
	return ok && sel.Sel.Name == "Context"
}

// receiver is the name of the type of a method.
func receiver(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.StarExpr:
		return receiver(x.X)
	case *ast.IndexExpr:
		return receiver(x.X)
	case *ast.Ident:
		return x.Name
	}
	return ""
}
