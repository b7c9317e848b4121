package lint

import (
	"fmt"
	"go/ast"
	"go/token"
	"regexp"
	"strconv"
	"strings"
)

// variablesFile is the page with the table of the variables that ranks read.
const variablesFile = "docs/BOOT.md"

// variableName matches a whole literal that names a variable of the environment, variableInCode
// such a name in a document.
var (
	variableName   = regexp.MustCompile(`^GASPI_[A-Z_]*[A-Z]$`)
	variableInCode = regexp.MustCompile("`(GASPI_[A-Z_]+)`")
)

// checkVariables reports variables of the environment that a source names and no row of the
// table of variables has, and rows of the table for variables that no source names. Tests and
// what gaspi-bench and tests say to processes of their own have no row.
func checkVariables(files []*goFile, page string) []string {
	documented := map[string]bool{}
	for line := range strings.SplitSeq(page, "\n") {
		if cells := cellsOf(line); cells != nil {
			for _, name := range variableInCode.FindAllStringSubmatch(cells[0], -1) {
				documented[name[1]] = false
			}
		}
	}
	var bad []string
	for _, f := range files {
		if f.test || strings.HasPrefix(f.dir, "internal/testenv") || strings.HasPrefix(f.dir, "internal/lint") {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			name := literalText(n)
			if !variableName.MatchString(name) || strings.HasPrefix(name, "GASPI_BENCH_") {
				return true
			}
			if _, ok := documented[name]; !ok {
				bad = append(bad, fmt.Sprintf("%s: %s has no row in the table of variables of %s", f.at(n.Pos()), name, variablesFile))
				return true
			}
			documented[name] = true
			return true
		})
	}
	for name, read := range documented {
		if !read {
			bad = append(bad, fmt.Sprintf("%s: no source names %s", variablesFile, name))
		}
	}
	return bad
}

// literalText returns the text of a literal string, or nothing.
func literalText(n ast.Node) string {
	literal, ok := n.(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return ""
	}
	text, err := strconv.Unquote(literal.Value)
	if err != nil {
		return ""
	}
	return text
}
