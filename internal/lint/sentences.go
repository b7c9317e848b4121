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
	headless = regexp.MustCompile(`(?:^|[.:;!?)] )(What|Who|Whoever|Whatever|Whose|That of|Those of) `)

	// ofAnother matches a doc comment that defines a name by the same thing of another.
	ofAnother = regexp.MustCompile(`^\w+ (is|are) (that|those) of `)
)

// checkSentences reports sentences of comments that have no subject of their own: those that
// begin with "What", "Who" or "That of", and doc comments such as "width is that of a column".
func checkSentences(files []*goFile) []string {
	var bad []string
	for _, f := range files {
		if f.generated {
			continue
		}
		for _, group := range f.ast.Comments {
			text := strings.Join(strings.Fields(group.Text()), " ")
			for _, rule := range []*regexp.Regexp{headless, ofAnother} {
				if m := rule.FindString(text); m != "" {
					bad = append(bad, fmt.Sprintf("%s: a sentence with %q: begin with the name of the thing, and say what it does",
						f.at(group.Pos()), strings.TrimSpace(m)))
				}
			}
		}
	}
	return bad
}
