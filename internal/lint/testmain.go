package lint

import "go/ast"

// checkTestMain reports functions TestMain whose last statement is no call of testenv.Main: their
// tests would see the variables of a starter of jobs, and their roles would have a way of their
// own to be started.
func checkTestMain(files []*goFile) []string {
	var bad []string
	for _, f := range files {
		for _, d := range f.ast.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if ok && f.test && fn.Recv == nil && fn.Name.Name == "TestMain" && !endsWithMain(fn, f.dir) {
				bad = append(bad, f.at(fn.Pos())+": TestMain does not end with testenv.Main, which runs tests and starts roles")
			}
		}
	}
	return bad
}

// endsWithMain reports whether the last statement of a function in a folder is a call of
// testenv.Main.
func endsWithMain(fn *ast.FuncDecl, dir string) bool {
	if len(fn.Body.List) == 0 {
		return false
	}
	last, ok := fn.Body.List[len(fn.Body.List)-1].(*ast.ExprStmt)
	if !ok {
		return false
	}
	call, ok := last.X.(*ast.CallExpr)
	if !ok {
		return false
	}
	switch called := call.Fun.(type) {
	case *ast.Ident:
		return called.Name == "Main" && dir == "internal/testenv"
	case *ast.SelectorExpr:
		from, ok := called.X.(*ast.Ident)
		return ok && from.Name == "testenv" && called.Sel.Name == "Main"
	}
	return false
}
