package lint

import (
	"fmt"
	"go/ast"
	"maps"
	"slices"
	"strings"
)

// maxPackages is the number of packages that may declare types of one name.
const maxPackages = 2

// checkTypeNames reports type names that more than maxPackages packages declare, unless
// allowed states their number, and numbers in allowed that are larger than needed. Aliases,
// tests and generated files do not count.
func checkTypeNames(files []*goFile, allowed map[string]int) []string {
	places := typeNames(files)
	var bad []string
	for _, name := range slices.Sorted(maps.Keys(places)) {
		dirs := slices.Sorted(maps.Keys(places[name]))
		limit := max(maxPackages, allowed[name])
		switch {
		case len(dirs) > limit:
			bad = append(bad, fmt.Sprintf("type name %s is declared in %d packages, at most %d: %s; give each a noun of its own",
				name, len(dirs), limit, strings.Join(dirs, ", ")))
		case len(dirs) < limit && allowed[name] > 0:
			bad = append(bad, fmt.Sprintf("type name %s is declared in %d packages, and %d are allowed: lower or remove its line",
				name, len(dirs), allowed[name]))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(allowed)) {
		if places[name] == nil {
			bad = append(bad, fmt.Sprintf("type name %s is allowed and declared nowhere: remove its line", name))
		}
	}
	return bad
}

// typeNames returns the folders that declare each type name at the top level.
func typeNames(files []*goFile) map[string]map[string]bool {
	places := map[string]map[string]bool{}
	for _, f := range files {
		if f.test || f.generated {
			continue
		}
		for _, ts := range typeSpecs(f) {
			if ts.Assign.IsValid() {
				continue
			}
			if places[ts.Name.Name] == nil {
				places[ts.Name.Name] = map[string]bool{}
			}
			places[ts.Name.Name][f.dir] = true
		}
	}
	return places
}

// typeSpecs returns the types that a file declares at the top level.
func typeSpecs(f *goFile) []*ast.TypeSpec {
	var specs []*ast.TypeSpec
	for _, d := range f.ast.Decls {
		gen, ok := d.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range gen.Specs {
			if ts, ok := spec.(*ast.TypeSpec); ok {
				specs = append(specs, ts)
			}
		}
	}
	return specs
}
