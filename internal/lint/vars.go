package lint

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"path"
	"slices"
	"strings"
)

// checkVars reports package-level variables that hold state. State hangs on a
// value that somebody made, so that one test process can hold eight ranks.
//
// A package-level var is allowed if it is a constant that Go cannot spell: it
// is set where it is declared, by an expression that makes nothing to be
// changed later (no make, no new, no &T{...}), and after that no code in the
// module assigns to it, to its elements or fields, increments it, deletes from
// it, clears it or takes its address. That admits errors.New sentinels,
// compiled regular expressions, tables, functions chosen by CPU feature,
// sync.OnceValue of a probe, files that are embedded, and "var _ I = T{}". Tests
// are free.
//
// The check resolves names without the types of other packages, so that it
// stays fast; a pointer-receiver method that changes its variable gets past it.
func checkVars(t *tree) []string {
	packages := map[string][]*goFile{}
	for _, f := range t.files {
		if !f.test {
			packages[f.dir] = append(packages[f.dir], f)
		}
	}
	declared := map[string]string{} // "dir.name" -> position
	changed := map[string]string{}  // "dir.name" -> position of the first change
	var bad []string
	for _, dir := range slices.Sorted(maps.Keys(packages)) {
		for _, f := range packages[dir] {
			bad = append(bad, declaredVars(f, declared)...)
		}
		info := resolve(t, dir, packages[dir])
		for _, f := range packages[dir] {
			findChanges(t, f, info, changed)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(declared)) {
		if pos, ok := changed[name]; ok {
			bad = append(bad, fmt.Sprintf("%s: package-level var %s is changed at %s; hang it on a value that its users hold",
				declared[name], path.Base(name), pos))
		}
	}
	return bad
}

// declaredVars notes the package-level variables of f and reports those whose
// declaration alone shows that they hold state.
func declaredVars(f *goFile, declared map[string]string) []string {
	var bad []string
	for _, d := range f.ast.Decls {
		gen, ok := d.(*ast.GenDecl)
		if !ok || gen.Tok != token.VAR {
			continue
		}
		for _, s := range gen.Specs {
			spec := s.(*ast.ValueSpec)
			for i, id := range spec.Names {
				if id.Name == "_" {
					continue
				}
				declared[f.dir+"."+id.Name] = f.at(id.Pos())
				var value ast.Expr
				if len(spec.Values) > 0 {
					value = spec.Values[min(i, len(spec.Values)-1)]
				}
				if value == nil && embedded(gen.Doc) {
					continue
				}
				if why := stateful(value); why != "" {
					bad = append(bad, fmt.Sprintf("%s: package-level var %s %s; hang it on a value that its users hold",
						f.at(id.Pos()), id.Name, why))
				}
			}
		}
	}
	return bad
}

// embedded reports whether the compiler sets a variable, to the contents of a file.
func embedded(doc *ast.CommentGroup) bool {
	return doc != nil && slices.ContainsFunc(doc.List, func(c *ast.Comment) bool {
		return strings.HasPrefix(c.Text, "//go:embed ")
	})
}

// stateful says why a variable with this initial value can only be state, or
// nothing if it may be a constant in disguise.
func stateful(value ast.Expr) string {
	switch v := value.(type) {
	case nil:
		return "has no initial value, so something must set it later"
	case *ast.UnaryExpr:
		if v.Op == token.AND {
			return "points at something that can be changed"
		}
	case *ast.CallExpr:
		fn, ok := v.Fun.(*ast.Ident)
		if ok && (fn.Name == "make" || fn.Name == "new") {
			return "is made empty, so something must fill it later"
		}
	case *ast.CompositeLit:
		sel, ok := v.Type.(*ast.SelectorExpr)
		if !ok {
			return ""
		}
		if pkg, ok := sel.X.(*ast.Ident); ok && (pkg.Name == "sync" || pkg.Name == "atomic") {
			return "is a lock, a pool or an atomic, which is state by nature"
		}
	}
	return ""
}

// resolve binds identifiers to declarations. Packages of others are stood in
// for by empty ones: errors about them are expected and mean nothing.
func resolve(t *tree, dir string, files []*goFile) *types.Info {
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	conf := types.Config{Importer: emptyImporter{}, Error: func(error) {}, FakeImportC: true}
	pkg := types.NewPackage(path.Join(t.module, dir), path.Base(dir))
	checker := types.NewChecker(&conf, t.fset, pkg, info)
	syntax := make([]*ast.File, len(files))
	for i, f := range files {
		syntax[i] = f.ast
	}
	_ = checker.Files(syntax) // errors about the empty packages
	return info
}

type emptyImporter struct{}

// Import returns a package of that path with nothing in it.
func (emptyImporter) Import(imp string) (*types.Package, error) {
	pkg := types.NewPackage(imp, path.Base(imp))
	pkg.MarkComplete()
	return pkg, nil
}

// findChanges notes every place in f where a package-level variable, of this
// package or of another of the module, may be changed.
func findChanges(t *tree, f *goFile, info *types.Info, changed map[string]string) {
	note := func(e ast.Expr) {
		name := t.packageVar(f, e, info)
		if _, seen := changed[name]; name != "" && !seen {
			changed[name] = f.at(e.Pos())
		}
	}
	ast.Inspect(f.ast, func(n ast.Node) bool {
		switch s := n.(type) {
		case *ast.AssignStmt:
			if s.Tok != token.DEFINE {
				for _, e := range s.Lhs {
					note(e)
				}
			}
		case *ast.IncDecStmt:
			note(s.X)
		case *ast.RangeStmt:
			if s.Tok == token.ASSIGN {
				note(s.Key)
				note(s.Value)
			}
		case *ast.UnaryExpr:
			if s.Op == token.AND {
				note(s.X)
			}
		case *ast.CallExpr:
			if fn, ok := s.Fun.(*ast.Ident); ok && len(s.Args) > 0 && (fn.Name == "delete" || fn.Name == "clear" || fn.Name == "copy") {
				note(s.Args[0])
			}
		}
		return true
	})
}

// packageVar names the package-level variable that e is, or is a part of, as
// "dir.name"; "" if it is none of ours.
func (t *tree) packageVar(f *goFile, e ast.Expr, info *types.Info) string {
	for {
		switch x := e.(type) {
		case *ast.ParenExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.SliceExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.SelectorExpr:
			if id, ok := x.X.(*ast.Ident); ok {
				if pkg, ok := info.Uses[id].(*types.PkgName); ok {
					return t.dirOf(pkg.Imported().Path(), x.Sel.Name)
				}
			}
			e = x.X
		case *ast.Ident:
			if v, ok := info.Uses[x].(*types.Var); ok && v.Pkg() != nil && v.Parent() == v.Pkg().Scope() {
				return f.dir + "." + x.Name
			}
			return ""
		default:
			return ""
		}
	}
}

// dirOf turns an import path and a name into "dir.name", "" for others' packages.
func (t *tree) dirOf(imp, name string) string {
	if !t.ours(imp) {
		return ""
	}
	dir := imp[len(t.module):]
	if dir == "" {
		return "." + "." + name
	}
	return dir[1:] + "." + name
}
