package lint

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// glossaryFile is the table of terms that checkGlossary reads.
const glossaryFile = "docs/GLOSSARY.md"

// typeByFolder matches a type as the glossary names it: `folder/of/package.Type`.
var typeByFolder = regexp.MustCompile("`([a-z0-9_/]+)\\.(\\w+)`")

// checkGlossary reports rows of the glossary that name a type which no source declares or
// which another row has, terms that are there twice or out of order, and rows with an
// empty cell.
func checkGlossary(files []*goFile, text string) []string {
	var bad []string
	complain := func(line int, format string, args ...any) {
		bad = append(bad, fmt.Sprintf("%s:%d: ", glossaryFile, line+1)+fmt.Sprintf(format, args...))
	}
	declared := declaredTypes(files)
	terms, types := map[string]bool{}, map[string]string{}
	last := ""
	for n, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, "#") {
			last = "" // each table has an order of its own
		}
		cells := cellsOf(line)
		if cells == nil {
			continue
		}
		term := cells[0]
		if slices.Contains(cells, "") {
			complain(n, "the row of %q has an empty cell", term)
		}
		if terms[term] {
			complain(n, "%q is explained twice", term)
		}
		terms[term] = true
		if cmp.Compare(term, last) < 0 {
			complain(n, "%q comes after %q", term, last)
		}
		last = term
		if len(cells) < 4 {
			continue
		}
		named := typeByFolder.FindAllStringSubmatch(cells[3], -1)
		if len(named) == 0 {
			complain(n, "%q names no type such as `folder.Type`", term)
		}
		for _, m := range named {
			name := m[1] + "." + m[2]
			switch {
			case !declared[name]:
				complain(n, "%q names the type %s, which no source declares", term, name)
			case types[name] != "":
				complain(n, "%q and %q both name the type %s", types[name], term, name)
			}
			types[name] = term
		}
	}
	if len(terms) == 0 {
		bad = append(bad, glossaryFile+": there is no table of terms")
	}
	return bad
}

// cellsOf returns the cells of a row of a table, or nil for other lines, the head of a table
// included.
func cellsOf(line string) []string {
	line, isRow := strings.CutPrefix(strings.TrimSpace(line), "|")
	line, ends := strings.CutSuffix(line, "|")
	if !isRow || !ends {
		return nil
	}
	cells := strings.Split(line, "|")
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	if cells[0] == "term" || strings.Trim(cells[0], "-: ") == "" && cells[0] != "" {
		return nil
	}
	return cells
}

// declaredTypes returns the types that non-test sources declare at the top level, aliases
// included, each as folder.Type.
func declaredTypes(files []*goFile) map[string]bool {
	declared := map[string]bool{}
	for _, f := range files {
		if f.test {
			continue
		}
		for _, ts := range typeSpecs(f) {
			declared[f.dir+"."+ts.Name.Name] = true
		}
	}
	return declared
}
