package lint

import (
	"fmt"
	"go/ast"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

var (
	// codeRef finds what documentation says about code: file.go:Func,
	// dir/file.go:(*Type).Method or file.go:Type.Method. It also finds
	// file.go:123, in order to refuse it: lines move, names stay.
	codeRef = regexp.MustCompile(`([\w./-]*\w\.go):(\(\*?\w+\)\.\w+|[A-Za-z_][\w.]*\w|[A-Za-z_]|\d+)`)

	mdLink    = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	mdHeading = regexp.MustCompile(`^#{1,6}\s+(.*?)\s*#*$`)
	mdLabel   = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
)

// isDocument selects the Markdown pages whose references must hold: those at
// the top and under docs.
func isDocument(name string) bool {
	return strings.HasSuffix(name, ".md") && (path.Dir(name) == "." || strings.HasPrefix(name, "docs/"))
}

// checkCodeRefs reports references of the documentation to code that is not there.
func checkCodeRefs(t *tree) []string {
	var bad []string
	for _, doc := range t.texts {
		if !isDocument(doc.path) {
			continue
		}
		number := 0
		for line := range strings.Lines(doc.data) {
			number++
			for _, m := range codeRef.FindAllStringSubmatch(line, -1) {
				if why := t.resolveRef(m[1], m[2]); why != "" {
					bad = append(bad, fmt.Sprintf("%s:%d: %s: %s", doc.path, number, m[0], why))
				}
			}
		}
	}
	return bad
}

// resolveRef says why name is not in a file that ends in the given path, or
// nothing if it is.
func (t *tree) resolveRef(file, name string) string {
	if name[0] >= '0' && name[0] <= '9' {
		return "names a line; lines move, so name a function or type"
	}
	name = strings.NewReplacer("(*", "", "(", "", ")", "").Replace(name)
	found := false
	for _, f := range t.files {
		if f.path != file && !strings.HasSuffix(f.path, "/"+file) {
			continue
		}
		found = true
		if declares(f.ast, name) {
			return ""
		}
	}
	if !found {
		return "no such file"
	}
	return "no such function, method, type, constant or variable there"
}

// declares reports whether file declares name at the top level. A method may
// be written with its type or without.
func declares(file *ast.File, name string) bool {
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.Name == name || d.Recv != nil && receiver(d)+"."+d.Name.Name == name {
				return true
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					if s.Name.Name == name || hasMember(s, name) {
						return true
					}
				case *ast.ValueSpec:
					for _, id := range s.Names {
						if id.Name == name {
							return true
						}
					}
				}
			}
		}
	}
	return false
}

// hasMember reports whether name is "Type.Member" for a field or an interface
// method of the type.
func hasMember(s *ast.TypeSpec, name string) bool {
	member, ok := strings.CutPrefix(name, s.Name.Name+".")
	if !ok {
		return false
	}
	var fields *ast.FieldList
	switch typ := s.Type.(type) {
	case *ast.StructType:
		fields = typ.Fields
	case *ast.InterfaceType:
		fields = typ.Methods
	default:
		return false
	}
	for _, field := range fields.List {
		for _, id := range field.Names {
			if id.Name == member {
				return true
			}
		}
	}
	return false
}

// checkLinks reports relative links of Markdown pages to files or headings
// that are not there.
func checkLinks(t *tree) []string {
	headings := map[string]map[string]bool{}
	for _, doc := range t.texts {
		if strings.HasSuffix(doc.path, ".md") {
			headings[doc.path] = anchors(doc.data)
		}
	}
	var bad []string
	for _, doc := range t.texts {
		if !strings.HasSuffix(doc.path, ".md") {
			continue
		}
		eachProse(doc.data, func(number int, line string) {
			for _, m := range mdLink.FindAllStringSubmatch(line, -1) {
				if why := t.resolveLink(doc.path, m[1], headings); why != "" {
					bad = append(bad, fmt.Sprintf("%s:%d: link to %s: %s", doc.path, number, m[1], why))
				}
			}
		})
	}
	return bad
}

// resolveLink says what is wrong with a link found on page from.
func (t *tree) resolveLink(from, link string, headings map[string]map[string]bool) string {
	if strings.Contains(link, ":") {
		return "" // a URL: not ours to check, and tests use no network
	}
	file, anchor, _ := strings.Cut(link, "#")
	target := from
	if file != "" {
		target = path.Join(path.Dir(from), file)
	}
	if strings.HasPrefix(file, "/") || strings.HasPrefix(target, "..") {
		return "leaves the repository; make it relative to this page"
	}
	if _, err := os.Stat(filepath.Join(t.root, filepath.FromSlash(target))); err != nil {
		return "no such file"
	}
	if anchor != "" && headings[target] != nil && !headings[target][anchor] {
		return "no such heading"
	}
	return ""
}

// anchors lists the names by which the headings of a page can be linked to.
func anchors(data string) map[string]bool {
	set := map[string]bool{}
	eachProse(data, func(_ int, line string) {
		if m := mdHeading.FindStringSubmatch(line); m != nil {
			set[anchor(m[1])] = true
		}
	})
	return set
}

// anchor makes the link name of a heading the way the usual renderers do.
func anchor(heading string) string {
	heading = mdLabel.ReplaceAllString(heading, "$1")
	var b strings.Builder
	for _, c := range strings.ToLower(heading) {
		switch {
		case c == ' ':
			b.WriteRune('-')
		case c == '-' || c == '_' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c > 127:
			b.WriteRune(c)
		}
	}
	return b.String()
}

// eachProse calls fn for each line of a page that is not inside a fenced block.
func eachProse(data string, fn func(number int, line string)) {
	number, fenced := 0, false
	for line := range strings.Lines(data) {
		number++
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
			continue
		}
		if !fenced {
			fn(number, strings.TrimSuffix(line, "\n"))
		}
	}
}
