package lint

import (
	"fmt"
	"go/ast"
	"regexp"
	"slices"
	"strings"
)

// codeSpan matches a span of code in a document.
var codeSpan = regexp.MustCompile("`([^`]+)`")

// standardFile is the page whose rows have tests named after them.
const standardFile = "docs/GASPI.md"

// standardTest begins the name of a test of a row.
const standardTest = "TestGASPI"

// A statedRow is a row of standardFile that states behaviour: a row of a table, or an item of
// its numbered list.
type statedRow struct {
	line int
	name string // the row's part of the name of its tests
}

var (
	// numberedItem matches an item of a numbered list that begins in bold.
	numberedItem = regexp.MustCompile(`^(\d+)\. \*\*(.*)$`)

	// lastName matches the last name of what a code span names, such as Barrier of `p.Barrier`.
	lastName = regexp.MustCompile(`^(?:[a-z]+\.)?(\w+)`)
)

// statedRows returns the rows of a page that state behaviour, each with its name:
//
//   - of a table, the first code of its first cell, else of its second, without the package or
//     the variable before a dot and without GASPI_; a first cell of plain words has its words up to
//     a comma. Names in lower case with underscores become one word each: write_notify is
//     WriteNotify. In the section Concurrency, Concurrent stands before it.
//   - of the numbered list, Difference and the number.
//
// Rows whose second cell begins with "none", and items that begin with "No ", state that
// something is not there, and are left out.
func statedRows(page string) []statedRow {
	var rows []statedRow
	section := ""
	lines := strings.Split(page, "\n")
	for n, line := range lines {
		if heading, ok := strings.CutPrefix(line, "## "); ok {
			section = heading
		}
		if m := numberedItem.FindStringSubmatch(line); m != nil && !strings.HasPrefix(m[2], "No ") {
			rows = append(rows, statedRow{n + 1, "Difference" + m[1]})
		}
		cells := cellsOf(line)
		head := n+1 < len(lines) && mdRule.MatchString(lines[n+1])
		if len(cells) < 2 || head || strings.HasPrefix(cells[1], "none") {
			continue
		}
		name := rowName(cells)
		if section == "Concurrency" {
			name = "Concurrent" + name
		}
		rows = append(rows, statedRow{n + 1, name})
	}
	return rows
}

// rowName returns the name of a row of a table.
func rowName(cells []string) string {
	words, _, _ := strings.Cut(cells[0], ",")
	if cells[0] == "(none)" {
		words = cells[1]
	}
	for _, text := range []string{cells[0], words} {
		if code := codeSpan.FindStringSubmatch(text); code != nil {
			words = strings.TrimPrefix(lastName.FindStringSubmatch(code[1])[1], "GASPI_")
			break
		}
	}
	if strings.Contains(words, "_") || strings.ToUpper(words) == words {
		words = strings.ToLower(words)
	}
	var name strings.Builder
	for _, word := range strings.FieldsFunc(words, func(r rune) bool { return strings.ContainsRune("_- ", r) }) {
		name.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return name.String()
}

// checkStandard reports rows that state behaviour and have no test whose name is standardTest,
// the row's name, and perhaps more words; rows with one name; and tests that are named after no
// row. Of several names that a test begins with it belongs to the longest.
func checkStandard(t *tree, page string) []string {
	rows := statedRows(page)
	tests := map[string]int{} // by row
	var bad []string
	for i, row := range rows {
		if first := slices.IndexFunc(rows, func(r statedRow) bool { return r.name == row.name }); first < i {
			bad = append(bad, fmt.Sprintf("%s:%d: the row has the name %s of line %d", standardFile, row.line, row.name, rows[first].line))
		}
	}
	for _, f := range t.files {
		for _, d := range f.ast.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || !f.test || fn.Recv != nil || !strings.HasPrefix(fn.Name.Name, standardTest) {
				continue
			}
			rest := strings.TrimPrefix(fn.Name.Name, standardTest)
			longest := ""
			for _, row := range rows {
				if continues(rest, row.name) && len(row.name) > len(longest) {
					longest = row.name
				}
			}
			if tests[longest]++; longest == "" {
				bad = append(bad, fmt.Sprintf("%s: %s is named after no row of %s", f.at(fn.Pos()), fn.Name.Name, standardFile))
			}
		}
	}
	for _, row := range rows {
		if tests[row.name] == 0 {
			bad = append(bad, fmt.Sprintf("%s:%d: no test is called %s%s, perhaps with more words", standardFile, row.line, standardTest, row.name))
		}
	}
	return bad
}

// continues reports whether name is row, or row and further words.
func continues(name, row string) bool {
	rest, ok := strings.CutPrefix(name, row)
	return ok && (rest == "" || rest[0] >= 'A' && rest[0] <= 'Z')
}
