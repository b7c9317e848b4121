package lint

import (
	"fmt"
	"go/ast"
	"maps"
	"slices"
	"strings"
)

// checkExamples reports exported types of public packages without an example: a function
// Example<Type> or Example<Type>_<Method>, or an example of a function whose first result is it.
// exempt says of "package.Type" why it needs none; an entry for a type that has one, or that is
// not there, is reported too.
func checkExamples(files []*goFile, exempt map[string]string) []string {
	var bad []string
	unused := maps.Clone(exempt)
	for _, dir := range publicDirs(files) {
		shown := exampleNames(files, dir)
		for name, where := range exportedTypes(files, dir) {
			full := dir + "." + name
			_, excused := exempt[full]
			delete(unused, full)
			has := slices.ContainsFunc(makers(files, dir, name), func(maker string) bool { return shown[maker] })
			switch {
			case has && excused:
				bad = append(bad, fmt.Sprintf("%s: type %s has an example; take it off the exempt types", where, full))
			case !has && !excused:
				bad = append(bad, fmt.Sprintf("%s: type %s has no example; write Example%s", where, full, name))
			}
		}
	}
	for full := range unused {
		bad = append(bad, fmt.Sprintf("%s is exempt from examples and no public package declares it", full))
	}
	slices.Sort(bad)
	return bad
}

// exampleNames returns the functions and types that the examples of the package in dir are of.
// An example without output is not run, and does not count.
func exampleNames(files []*goFile, dir string) map[string]bool {
	names := map[string]bool{}
	for _, f := range files {
		if f.dir != dir || !f.test {
			continue
		}
		for _, fn := range functions(f) {
			rest, ok := strings.CutPrefix(fn.Name.Name, "Example")
			if name, _, _ := strings.Cut(rest, "_"); ok && name != "" && hasOutput(f, fn) {
				names[name] = true
			}
		}
	}
	return names
}

// hasOutput reports whether a comment in the body of fn states its output.
func hasOutput(f *goFile, fn *ast.FuncDecl) bool {
	return slices.ContainsFunc(f.ast.Comments, func(c *ast.CommentGroup) bool {
		inside := fn.Body != nil && fn.Body.Pos() < c.Pos() && c.End() < fn.Body.End()
		text := strings.ToLower(c.Text())
		return inside && (strings.HasPrefix(text, "output:") || strings.HasPrefix(text, "unordered output:"))
	})
}

// exportedTypes returns where the package in dir declares each exported type, by name.
func exportedTypes(files []*goFile, dir string) map[string]string {
	types := map[string]string{}
	for _, f := range files {
		if f.dir != dir || f.test {
			continue
		}
		for _, d := range f.ast.Decls {
			decl, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, spec := range decl.Specs {
				if s, ok := spec.(*ast.TypeSpec); ok && s.Name.IsExported() {
					types[s.Name.Name] = f.at(s.Pos())
				}
			}
		}
	}
	return types
}

// makers returns the names that an example of a type may have: the type's own, and those of the
// functions whose first result is the type or a pointer to it.
func makers(files []*goFile, dir, typ string) []string {
	names := []string{typ}
	for _, f := range files {
		if f.dir != dir || f.test {
			continue
		}
		for _, fn := range functions(f) {
			if results := fn.Type.Results; results != nil && typeName(results.List[0].Type) == typ {
				names = append(names, fn.Name.Name)
			}
		}
	}
	return names
}

// functions returns the functions of a file that are no methods.
func functions(f *goFile) []*ast.FuncDecl {
	var all []*ast.FuncDecl
	for _, d := range f.ast.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil {
			all = append(all, fn)
		}
	}
	return all
}
