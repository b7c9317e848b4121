package lint

import (
	"fmt"
	"go/ast"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestGuideNamesWhatExists: each name of the library that a page of docs/guide has in code exists.
func TestGuideNamesWhatExists(t *testing.T) {
	m := loadModule(t)
	pages, named := 0, 0
	for _, page := range m.texts {
		if strings.HasPrefix(page.path, "docs/guide/") {
			n, bad := checkNamedIn(m, page)
			report(t, bad)
			pages, named = pages+1, named+n
		}
	}
	if pages < 5 || named < 100 {
		t.Errorf("%d names in %d pages of docs/guide: they are not found", named, pages)
	}
}

// libraryName matches what follows the name of a package, or of a variable that stands for one type.
var libraryName = regexp.MustCompile(`(?:^|[^\w.])(gaspi|collectives|ssp|hoplite|segment|launcher|p|q|seg|g|team|plan|h|store|reduction|ref)\.([A-Z]\w*)(?:\.([A-Z]\w*))?`)

// typesOfVariables are the types that variables of the pages have.
func typesOfVariables() map[string]string {
	return map[string]string{
		"p": "gaspi.Proc", "q": "gaspi.Queue", "seg": "gaspi.Segment", "g": "gaspi.Group", "team": "collectives.Team", "plan": "collectives.Plan",
		"h": "collectives.Handle", "store": "hoplite.Store", "reduction": "ssp.Reduction", "ref": "hoplite.Ref",
	}
}

// checkNamedIn reports names in the code of a page that the module does not have, and returns how
// many there are.
func checkNamedIn(t *tree, page textFile) (named int, bad []string) {
	types := typesOfVariables()
	eachProse(page.data, func(number int, line string) {
		for _, span := range codeSpan.FindAllStringSubmatch(line, -1) {
			for _, m := range libraryName.FindAllStringSubmatch(span[1], -1) {
				pkg, name := m[1], m[2]
				if m[3] != "" {
					name += "." + m[3]
				}
				if typ, ok := types[pkg]; ok {
					dir, of, _ := strings.Cut(typ, ".")
					pkg, name = dir, of+"."+name
				}
				if named++; !t.exports(pkg, name) {
					bad = append(bad, fmt.Sprintf("%s:%d: `%s`: package %s has no %s", page.path, number, span[1], pkg, name))
				}
			}
		}
	})
	return named, bad
}

// exports reports whether a package declares a name, or a type whose member of that name an
// internal package declares: types of gaspi have another name there.
func (t *tree) exports(dir, name string) bool {
	typ, _, member := strings.Cut(name, ".")
	known := false
	for _, f := range t.files {
		if f.dir == dir && !f.test && declares(f.ast, name) {
			return true
		}
		known = known || f.dir == dir && !f.test && declares(f.ast, typ)
	}
	return member && known && slices.ContainsFunc(t.files, func(f *goFile) bool {
		return (strings.HasPrefix(f.dir, "internal/") || strings.HasPrefix(f.dir, dir+"/")) && !f.test && declares(f.ast, name)
	})
}

// TestGuideQuotesMessages: each message of errors.md is made of words that a source has in a
// literal text. Between "...", and where a number N stands, anything may be.
func TestGuideQuotesMessages(t *testing.T) {
	m := loadModule(t)
	for _, page := range m.texts {
		if page.path == "docs/guide/errors.md" {
			n, bad := checkQuoted(m, page)
			if report(t, bad); n < 30 {
				t.Errorf("%d messages were found in %s", n, page.path)
			}
			return
		}
	}
	t.Error("there is no docs/guide/errors.md")
}

var (
	// verb matches what fmt replaces.
	verb = regexp.MustCompile(`%[-+#0-9.*\[\]]*[a-zA-Z]`)

	// filled matches what in a quoted message stands for something else.
	filled = regexp.MustCompile(`\.\.\.|\bN\b`)
)

// checkQuoted looks for the pieces of messages, which are the code in the first cells of the
// tables under a head called message, and returns how many messages there are.
func checkQuoted(t *tree, page textFile) (messages int, bad []string) {
	var literals strings.Builder
	for _, f := range t.files {
		if f.test {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if text := literalText(n); text != "" {
				literals.WriteString("\x00" + verb.ReplaceAllString(text, "\x00") + "\x00")
			}
			return true
		})
	}
	all, inTable := literals.String(), false
	eachProse(page.data, func(number int, line string) {
		cells := cellsOf(line)
		switch {
		case mdRule.MatchString(line):
			return
		case cells == nil || cells[0] == "message":
			inTable = cells != nil
			return
		case !inTable:
			return
		}
		span := codeSpan.FindStringSubmatch(cells[0])
		if span == nil {
			return
		}
		messages++
		for _, piece := range filled.Split(span[1], -1) {
			for part := range strings.SplitSeq(piece, ": ") {
				part = strings.Trim(part, " ,:;()[]=")
				if part != "" && !said(all, strings.Fields(part), true) {
					bad = append(bad, fmt.Sprintf("%s:%d: no source says %q", page.path, number, part))
				}
			}
		}
	})
	return messages, bad
}

// said reports whether literal texts have words. Messages are put together of several texts, so
// the words may be cut where one text ends or has a verb of fmt, and another one begins so.
func said(literals string, words []string, first bool) bool {
	for to := len(words); to > 0; to-- {
		text := strings.Join(words[:to], " ")
		if to == len(words) {
			if has(literals, text, !first, false) {
				return true
			}
		} else if has(literals, text, !first, true) && said(literals, words[to:], false) {
			return true
		}
	}
	return false
}

// has reports whether a literal text has words, at its beginning or behind a verb if begins is
// set, at its end or before a verb if ends is.
func has(literals, words string, begins, ends bool) bool {
	before, after := []string{""}, []string{""}
	if begins {
		before = []string{"\x00", "\x00 "}
	}
	if ends {
		after = []string{"\x00", " \x00"}
	}
	for _, b := range before {
		for _, a := range after {
			if strings.Contains(literals, b+words+a) {
				return true
			}
		}
	}
	return false
}

func TestCheckQuoted(t *testing.T) {
	m := fake(t, map[string]string{"a/a.go": "package a\nconst x = \"rank %d is gone: %s after %v\"\nconst y = \"exit status\"\n", "a/a_test.go": "package a\nconst z = \"no news\"\n"})
	n, bad := checkQuoted(m, textFile{"docs/guide/x.md", "| message | cause |\n|---|---|\n| `rank N is gone: exit status after ...` (`err`) | c |\n" +
		"| `rank N is here` | c |\n| `no news` | c |\n\n| other | c |\n|---|---|\n| `nobody` | c |\n"})
	expect(t, bad, `x.md:4: no source says "is here"`, `x.md:5: no source says "no news"`)
	if n != 3 {
		t.Errorf("%d messages, want 3", n)
	}
}

func TestCheckNamedIn(t *testing.T) {
	m := fake(t, map[string]string{
		"gaspi/a.go":      "package gaspi\ntype Queue struct{}\nfunc (q *Queue) Wait() {}\nconst Sum = 1\ntype Config struct{ Spin int }\n",
		"gaspi/a_test.go": "package gaspi\nfunc Helper() {}\n",
	})
	n, bad := checkNamedIn(m, textFile{"docs/guide/x.md", "`q.Wait(ctx)`, `gaspi.Sum` and `gaspi.Config.Spin`\n```\n`q.Gone`\n```\n" +
		"| `q.Gone()` | `gaspi.Helper`, `gaspi.Config.Yield`, `other.Thing` | gaspi.Nothing |\n"})
	expect(t, bad, "x.md:5: `q.Gone()`: package gaspi has no Queue.Gone", "has no Helper", "has no Config.Yield")
	if n != 6 {
		t.Errorf("%d names, want 6", n)
	}
}
