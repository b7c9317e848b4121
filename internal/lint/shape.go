package lint

import (
	"fmt"
	"go/ast"
	"go/build/constraint"
	"regexp"
	"strings"
)

// Limits of what one reader holds in the head at once. The numbers come from
// code that is a pleasure to read: a tenth of its functions pass 40 lines and
// almost none 70.
const (
	maxFuncLines = 70
	maxFileLines = 450
)

// checkLength reports functions and files that are too long. Test functions
// may be long, because a table is no reading burden; test files may not.
func checkLength(files []*goFile) []string {
	var bad []string
	for _, f := range files {
		if f.generated {
			continue
		}
		if f.lines > maxFileLines {
			bad = append(bad, fmt.Sprintf("%s: %d lines, at most %d; split it by idea", f.path, f.lines, maxFileLines))
		}
		for _, d := range f.ast.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || f.test {
				continue
			}
			n := f.fset.Position(fn.End()).Line - f.fset.Position(fn.Pos()).Line + 1
			if n > maxFuncLines {
				bad = append(bad, fmt.Sprintf("%s: function %s has %d lines, at most %d; give its parts names",
					f.at(fn.Pos()), fn.Name.Name, n, maxFuncLines))
			}
		}
	}
	return bad
}

// checkInit reports init functions: what runs before main without being called
// cannot be given a context, an error or a test.
func checkInit(files []*goFile) []string {
	var bad []string
	for _, f := range files {
		for _, d := range f.ast.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if ok && fn.Recv == nil && fn.Name.Name == "init" && !f.generated {
				bad = append(bad, f.at(fn.Pos())+": init function; call it from where its result is needed")
			}
		}
	}
	return bad
}

var unfinished = regexp.MustCompile(`\b(TODO|FIXME|XXX)\b`)

// checkUnfinished reports comments that put work off.
func checkUnfinished(files []*goFile) []string {
	var bad []string
	for _, f := range files {
		for _, group := range f.ast.Comments {
			for _, c := range group.List {
				if word := unfinished.FindString(c.Text); word != "" {
					bad = append(bad, fmt.Sprintf("%s: %s in a comment; do it, or say plainly what is not supported",
						f.at(c.Pos()), word))
				}
			}
		}
	}
	return bad
}

// checkSleep reports calls of time.Sleep without a reason. Sleeping is never
// synchronisation; what remains (a bounded back-off, say) carries a comment
// "// sleep: why" in the same line or the one above. In a test that is virtual time of a
// bubble, the moment of a fault, or a poll of a system that has no event. Examples are free:
// their sleep stands for work.
func checkSleep(files []*goFile) []string {
	var bad []string
	for _, f := range files {
		if strings.HasPrefix(f.path, "examples/") && !f.test {
			continue
		}
		reasons := map[int]bool{}
		for _, group := range f.ast.Comments {
			for _, c := range group.List {
				if strings.HasPrefix(c.Text, "// sleep: ") {
					// The reason may go on over several lines: it counts for
					// the line after the group.
					reasons[f.fset.Position(c.Pos()).Line] = true
					reasons[f.fset.Position(group.End()).Line+1] = true
				}
			}
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok || sel.Sel.Name != "Sleep" {
				return true
			}
			pkg, ok := sel.X.(*ast.Ident)
			if ok && pkg.Name == "time" && !reasons[f.fset.Position(sel.Pos()).Line] {
				bad = append(bad, f.at(sel.Pos())+": time.Sleep; wait for the event itself, or give the reason in a comment \"// sleep: ...\"")
			}
			return true
		})
	}
	return bad
}

// checkTags reports build constraints that use a tag which is not in known: a
// mistyped tag hides a file from every build and no tool complains.
func checkTags(files []*goFile, known map[string]bool) []string {
	var bad []string
	for _, f := range files {
		for _, group := range f.ast.Comments {
			for _, c := range group.List {
				if !constraint.IsGoBuild(c.Text) {
					continue
				}
				expr, err := constraint.Parse(c.Text)
				if err != nil {
					bad = append(bad, fmt.Sprintf("%s: %v", f.at(c.Pos()), err))
					continue
				}
				for _, tag := range tagsOf(expr) {
					if !known[tag] && !strings.HasPrefix(tag, "go1.") {
						bad = append(bad, fmt.Sprintf("%s: unknown build tag %s; known tags stand in internal/lint/shape_test.go",
							f.at(c.Pos()), tag))
					}
				}
			}
		}
	}
	return bad
}

// tagsOf lists the tags of a constraint.
func tagsOf(expr constraint.Expr) []string {
	switch x := expr.(type) {
	case *constraint.AndExpr:
		return append(tagsOf(x.X), tagsOf(x.Y)...)
	case *constraint.OrExpr:
		return append(tagsOf(x.X), tagsOf(x.Y)...)
	case *constraint.NotExpr:
		return tagsOf(x.X)
	case *constraint.TagExpr:
		return []string{x.Tag}
	}
	return nil
}
