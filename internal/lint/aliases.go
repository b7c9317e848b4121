package lint

import (
	"fmt"
	"go/ast"
	"path"
	"slices"
	"strconv"
	"strings"
)

// checkAliases reports exported types of public packages that are another name of a type of an
// internal package: godoc shows neither its fields nor its methods.
func checkAliases(files []*goFile) []string {
	var bad []string
	public := publicDirs(files)
	for _, f := range files {
		if f.test || f.generated || !slices.Contains(public, f.dir) {
			continue
		}
		for _, spec := range typeSpecs(f) {
			if of := internalPackage(f.ast, spec); of != "" {
				bad = append(bad, fmt.Sprintf("%s: type %s.%s is a type of %s, which godoc does not show; declare it here, or in a public package",
					f.path, f.dir, spec.Name.Name, of))
			}
		}
	}
	slices.Sort(bad)
	return bad
}

// internalPackage returns the import path of the internal package of which spec, an exported alias,
// names a type; "" if it is none.
func internalPackage(f *ast.File, spec *ast.TypeSpec) string {
	typ := spec.Type
	if generic, ok := typ.(*ast.IndexExpr); ok {
		typ = generic.X
	}
	of, ok := typ.(*ast.SelectorExpr)
	if !ok || !spec.Assign.IsValid() || !spec.Name.IsExported() {
		return ""
	}
	for _, i := range f.Imports {
		at, err := strconv.Unquote(i.Path.Value)
		name := path.Base(at)
		if i.Name != nil {
			name = i.Name.Name
		}
		if x, ok := of.X.(*ast.Ident); err == nil && ok && x.Name == name && strings.Contains("/"+at+"/", "/internal/") {
			return at
		}
	}
	return ""
}
