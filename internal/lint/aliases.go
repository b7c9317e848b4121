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
// internal package: godoc shows neither its fields nor its methods. hidden are those that are
// allowed; one that is no such alias is reported too.
func checkAliases(files []*goFile, hidden []string) []string {
	var bad []string
	unused := slices.Clone(hidden)
	public := publicDirs(files)
	for _, f := range files {
		if f.test || f.generated || !slices.Contains(public, f.dir) {
			continue
		}
		for _, spec := range typeSpecs(f) {
			of := internalPackage(f.ast, spec)
			if of == "" {
				continue
			}
			full := f.dir + "." + spec.Name.Name
			unused = slices.DeleteFunc(unused, func(name string) bool { return name == full })
			if !slices.Contains(hidden, full) {
				bad = append(bad, fmt.Sprintf("%s: type %s is a type of %s, which godoc does not show; declare it here, or in a public package", f.path, full, of))
			}
		}
	}
	for _, full := range unused {
		bad = append(bad, full+" is allowed to be hidden and is no type of an internal package")
	}
	slices.Sort(bad)
	return bad
}

// internalPackage returns the import path of the internal package of which spec, an exported alias,
// names a type; "" if it is none.
func internalPackage(f *ast.File, spec *ast.TypeSpec) string {
	of, ok := spec.Type.(*ast.SelectorExpr)
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
