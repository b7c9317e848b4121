package lint

import (
	"fmt"
	"regexp"
	"strings"
)

var (
	// headless matches a sentence that begins with a relative clause in the place of a
	// subject. The capital letter makes it the beginning: a question in the middle of a
	// sentence has none.
	headless = regexp.MustCompile(`(?:^|[.:;!?)][*_")]*\s)[*_"(\[]*(What|Who|Whoever|Whatever|Whose|That\sof|Those\sof)\s`)

	// ofAnother matches a passage that defines a name by the same thing of another.
	ofAnother = regexp.MustCompile(`^\w+ (is|are) (that|those) of `)

	// sentenceEnd matches the mark at the end of a sentence.
	sentenceEnd = regexp.MustCompile(`[.!?][*_")]*(?:\s|$)`)

	// mdItem matches the marker of an item of a Markdown list, or of a quotation.
	mdItem = regexp.MustCompile(`^(?:[-*+>]|\d+\.)\s+`)

	// mdRule matches the line between the head of a Markdown table and its rows.
	mdRule = regexp.MustCompile(`^\s*\|\s*:?-`)
)

// A passage is prose whose first word begins a sentence: a comment, a paragraph, an item of a
// list or a cell of a table.
type passage struct {
	path string
	line int // of the first word; a newline in text begins the next line
	text string
}

// checkSentences reports sentences that have no subject of their own: those that begin with
// "What", "Who" or "That of" and are no question, and definitions such as "width is that of a
// column".
func checkSentences(passages []passage) []string {
	var bad []string
	for _, p := range passages {
		for _, rule := range []*regexp.Regexp{headless, ofAnother} {
			for _, m := range rule.FindAllStringSubmatchIndex(p.text, -1) {
				if strings.HasPrefix(sentenceEnd.FindString(p.text[m[1]:]), "?") {
					continue
				}
				begin := strings.Join(strings.Fields(p.text[m[0]:m[1]]), " ")
				line := p.line + strings.Count(p.text[:m[2]], "\n")
				bad = append(bad, fmt.Sprintf("%s:%d: a sentence with %q: begin with the name of the thing, and say what it does", p.path, line, begin))
			}
		}
	}
	return bad
}

// comments returns the comments of Go sources, each in one line.
func comments(files []*goFile) []passage {
	var found []passage
	for _, f := range files {
		if f.generated {
			continue
		}
		for _, group := range f.ast.Comments {
			text := strings.Join(strings.Fields(group.Text()), " ")
			found = append(found, passage{f.path, f.fset.Position(group.Pos()).Line, text})
		}
	}
	return found
}

// documents returns the prose of Markdown pages. The change log is left out: its entries stay
// as they were published.
func documents(texts []textFile) []passage {
	var found []passage
	for _, page := range texts {
		if strings.HasSuffix(page.path, ".md") && page.path != "CHANGELOG.md" {
			found = append(found, paragraphs(page)...)
		}
	}
	return found
}

// paragraphs returns the paragraphs, the items of lists and the cells of tables of a Markdown
// page. Headings, code, and the heads of tables are left out.
func paragraphs(page textFile) []passage {
	var found []passage
	begun, fence := false, false // begun: a line of text goes on with the last passage
	lines := strings.Split(page.data, "\n")
	for n, line := range lines {
		text := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(text, "```"):
			begun, fence = false, !fence
		case fence, text == "", mdHeading.MatchString(text):
			begun = false
		case !begun && strings.HasPrefix(line, "    "): // indented code
		case strings.HasPrefix(text, "|"):
			begun = false
			if n+1 == len(lines) || !mdRule.MatchString(lines[n+1]) {
				for _, cell := range cellsOf(text) {
					found = append(found, passage{page.path, n + 1, cell})
				}
			}
		case begun && !mdItem.MatchString(text):
			found[len(found)-1].text += "\n" + text
		default:
			begun = true
			found = append(found, passage{page.path, n + 1, mdItem.ReplaceAllString(text, "")})
		}
	}
	return found
}
