package lint

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
)

// importRules is the parsed table of who may import whom.
//
// A rule reads "a, b < c, d;" and means: c and d may import a and b. It is not
// transitive: a package may import exactly what stands to the left of it, so
// that reading one line says what a package knows. "x/..." stands for x and
// everything below it, NONE for no package, TEST for every _test file, and
// "#" starts a comment. Packages of the standard library are free to all, but
// for unsafe, which is a dependency like any other; packages of this module
// and of others must appear.
type importRules struct {
	may   map[string][]string // importer pattern -> patterns it may import
	order []string            // importer patterns as written, for stable messages
}

// parseRules reads the text form. It refuses what it cannot read and a table
// that is not a partial order.
func parseRules(text string) (*importRules, error) {
	r := &importRules{may: map[string][]string{}}
	var clean strings.Builder
	for line := range strings.Lines(text) {
		code, _, _ := strings.Cut(line, "#")
		clean.WriteString(code + "\n")
	}
	for rule := range strings.SplitSeq(clean.String(), ";") {
		if strings.TrimSpace(rule) == "" {
			continue
		}
		left, right, ok := strings.Cut(rule, "<")
		lower, upper := names(left), names(right)
		if !ok || len(lower) == 0 || len(upper) == 0 || strings.Contains(right, "<") {
			return nil, fmt.Errorf("rule %q: want \"a, b < c, d\"", strings.TrimSpace(rule))
		}
		for _, u := range upper {
			if _, seen := r.may[u]; !seen {
				r.order = append(r.order, u)
			}
			r.may[u] = append(r.may[u], lower...)
		}
	}
	return r, r.acyclic()
}

// names splits a comma-separated list.
func names(list string) []string {
	return strings.FieldsFunc(list, func(c rune) bool { return strings.ContainsRune(", \t\n", c) })
}

// acyclic refuses a table in which a package may import itself by a detour.
func (r *importRules) acyclic() error {
	state := map[string]int{} // 1 while on the path, 2 when done
	var visit func(p string) error
	visit = func(p string) error {
		switch state[p] {
		case 1:
			return fmt.Errorf("rules go in a circle through %s", p)
		case 2:
			return nil
		}
		state[p] = 1
		for _, low := range r.may[p] {
			if err := visit(low); err != nil {
				return err
			}
		}
		state[p] = 2
		return nil
	}
	for _, p := range r.order {
		if err := visit(p); err != nil {
			return err
		}
	}
	return nil
}

// matches reports whether pkg is what pattern stands for.
func matches(pattern, pkg string) bool {
	base, open := strings.CutSuffix(pattern, "/...")
	return pkg == base || open && strings.HasPrefix(pkg, base+"/")
}

// allowed returns the patterns that pkg may import, and whether the table
// knows pkg at all.
func (r *importRules) allowed(pkg string, test bool) (list []string, known bool) {
	for _, p := range r.order {
		if matches(p, pkg) {
			known = true
			list = append(list, r.may[p]...)
		}
	}
	if test {
		list = append(list, r.may["TEST"]...)
	}
	return list, known
}

// owner folds a/b/internal/c into a/b: what a package keeps to itself counts
// as the package. Top-level internal packages stand for themselves.
func owner(pkg string) string {
	if i := strings.Index(pkg, "/internal/"); i > 0 {
		return pkg[:i]
	}
	return pkg
}

// isStd reports whether an import path is of the standard library: the first
// element of any other path has a dot in it.
func isStd(imp string) bool {
	first, _, _ := strings.Cut(imp, "/")
	return !strings.Contains(first, ".") && imp != "unsafe" && imp != "C"
}

// checkImports reports each import that the table does not allow, with what to
// do instead. advice maps a pattern of imported packages to that sentence.
func checkImports(t *tree, r *importRules, advice map[string]string) []string {
	var bad []string
	unknown := map[string]bool{}
	for _, f := range t.files {
		pkg := owner(f.dir)
		may, known := r.allowed(pkg, f.test)
		if !known {
			unknown[pkg] = true
			continue
		}
		for _, spec := range f.ast.Imports {
			imp, err := strconv.Unquote(spec.Path.Value)
			if err != nil || isStd(imp) && !t.ours(imp) {
				continue
			}
			imp = owner(strings.TrimPrefix(imp, t.module+"/"))
			if imp == pkg || slices.ContainsFunc(may, func(p string) bool { return matches(p, imp) }) {
				continue
			}
			bad = append(bad, fmt.Sprintf("%s: %s must not import %s; %s",
				f.at(spec.Pos()), pkg, imp, advise(advice, imp)))
		}
	}
	for _, pkg := range slices.Sorted(maps.Keys(unknown)) {
		bad = append(bad, fmt.Sprintf("%s: the import table does not know this package; add it where it belongs", pkg))
	}
	return bad
}

// checkInside reports each import between the internal packages of a package that the rules,
// which name them by what follows root/internal/, do not allow, and each such package that
// they do not know. Tests obey the same rules.
func checkInside(t *tree, root string, r *importRules) []string {
	var bad []string
	unknown := map[string]bool{}
	for _, f := range t.files {
		pkg, inside := strings.CutPrefix(f.dir, root+"/internal/")
		if !inside {
			continue
		}
		may, known := r.allowed(pkg, false)
		if !known {
			unknown[pkg] = true
			continue
		}
		for _, spec := range f.ast.Imports {
			imp, err := strconv.Unquote(spec.Path.Value)
			low, ours := strings.CutPrefix(imp, t.module+"/"+root+"/internal/")
			if err != nil || !ours || low == pkg || slices.Contains(may, low) {
				continue
			}
			bad = append(bad, fmt.Sprintf("%s: %s must not import %s; move what both need below both of them", f.at(spec.Pos()), pkg, low))
		}
	}
	for _, pkg := range slices.Sorted(maps.Keys(unknown)) {
		bad = append(bad, fmt.Sprintf("%s/internal/%s: the table of %s does not know this package; add it where it belongs", root, pkg, root))
	}
	return bad
}

// ours reports whether imp is a package of the module.
func (t *tree) ours(imp string) bool {
	return imp == t.module || strings.HasPrefix(imp, t.module+"/")
}

// advise picks the sentence of the most exact pattern that matches.
func advise(advice map[string]string, imp string) string {
	best, text := -1, "move what both need below both of them, or change the table in a commit that says why"
	for pattern, sentence := range advice {
		if matches(pattern, imp) && len(pattern) > best {
			best, text = len(pattern), sentence
		}
	}
	return text
}

// checkUnsafe reports each import of unsafe in a file whose name does not say
// so. Which packages may at all is in the import table.
func checkUnsafe(files []*goFile) []string {
	var bad []string
	for _, f := range files {
		for _, spec := range f.ast.Imports {
			if spec.Path.Value != `"unsafe"` || f.generated || unsafeName(f.path) {
				continue
			}
			bad = append(bad, fmt.Sprintf("%s: unsafe outside a file called *_unsafe.go; "+
				"move the few lines that need it into one, each with the reason why it is safe", f.at(spec.Pos())))
		}
	}
	return bad
}

// unsafeName accepts x_unsafe.go, x_unsafe_amd64.go and x_unsafe_test.go.
func unsafeName(name string) bool {
	stem := strings.TrimSuffix(path.Base(name), ".go")
	return strings.HasSuffix(stem, "_unsafe") || strings.Contains(stem, "_unsafe_")
}
