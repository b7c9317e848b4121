package lint

import (
	"path"
	"strings"
	"testing"
)

// mostWords is how many words, between blanks, README.md, the reference and the guide have
// together. Decisions do not count: a record is never rewritten. Nor does a page that a command writes.
const mostWords = 18_850

const writtenByCommand = "docs/PERFORMANCE.md"

func TestDocumentsAreShort(t *testing.T) {
	pages, words := 0, 0
	for _, text := range loadModule(t).texts {
		if dir := path.Dir(text.path); text.path != writtenByCommand && path.Ext(text.path) == ".md" && (text.path == "README.md" || dir == "docs" || dir == "docs/guide") {
			pages++
			words += len(strings.Fields(string(text.data)))
		}
	}
	if pages < 20 || words > mostWords {
		t.Errorf("%d words in %d pages, want at most %d: say each thing once, and link to it", words, pages, mostWords)
	}
}
