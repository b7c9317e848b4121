package lint

import (
	"slices"
	"testing"
)

func TestSentencesHaveASubject(t *testing.T) {
	m := loadModule(t)
	report(t, checkSentences(slices.Concat(comments(m.files), documents(m.texts))))
}

func TestCheckSentencesOfComments(t *testing.T) {
	for _, c := range []struct {
		name, comment string
		want          []string
	}{
		{"a subject", "// f returns what it is given, who sent it, and that of the other.", nil},
		{"what", "// What is given is returned.", []string{`p/a.go:3: a sentence with "What"`}},
		{"in the middle", "// f returns it. What is not given is\n// lost.", []string{`a sentence with ". What"`}},
		{"who, on the next line", "// f returns it.\n// Who asks waits.", []string{`a sentence with ". Who"`}},
		{"after a colon", "// Beware: Whoever asks waits.", []string{`": Whoever"`}},
		{"two", "// What is given is returned. Whose it is does not matter.", []string{`"What"`, `". Whose"`}},
		{"a question", "// f answers a question. Who asks?", nil},
		{"a word that begins so", "// Whole lines are returned. Those are long. That is all.", nil},
		{"that of", "// f returns it. That of the root is 0.", []string{`". That of"`}},
		{"defined by another", "// f is that of a column.", []string{`"f is that of"`}},
		{"many defined by others", "// fs are those of a call.", []string{`"fs are those of"`}},
		{"compared with another", "// f returns a length. The unit is that of Size.", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := fake(t, map[string]string{"p/a.go": "package p\n\n" + c.comment + "\nvar x int\n"})
			expect(t, checkSentences(comments(m.files)), c.want...)
		})
	}
}

func TestCheckSentencesOfDocuments(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"a subject", "A page says what it is, who reads it,\nwhat it is not, and that\nof the other.", nil},
		{"first of a page", "What is given is returned.", []string{`docs/A.md:1: a sentence with "What"`}},
		{"at the start of a line", "One line.\nWho asks\nwaits.", []string{`docs/A.md:2: a sentence with ". Who"`}},
		{"at the end of a line", "Lines. That\nof the root is 0. Whatever\nis left is 1.", []string{`A.md:1: a sentence with ". That of"`, `A.md:2: a sentence with ". Whatever"`}},
		{"in bold, brackets and quotes", "**Names.** *Who* asks waits. (What is left is 0.) \"Whoever asks waits.\" [What is left](a.md) is 0.\n",
			[]string{`". (What"`, `\"Whoever"`, `[What"`}},
		{"after code", "It calls `f`: What is left is 0; Whose it is does not matter.", []string{`": What"`, `"; Whose"`}},
		{"items", "- What is left is 0.\n- One.\n  Who asks waits.\n  - Those of others wait.\n1. Whoever asks waits.\n\n> What is quoted.",
			[]string{`:1: a sentence with "What"`, `:3: a sentence with ". Who"`, `:4: a sentence with "Those of"`, `:5: a sentence with "Whoever"`, `:7: a sentence with "What"`}},
		{"the second line of an item", "10. One.\n    Who asks waits.", []string{`:2: a sentence with ". Who"`}},
		{"an item that goes on after code", "- Run this:\n\n      What\n\n  What is left is 0.", []string{`:5: a sentence with "What"`}},
		{"a table", "| What for | Who asks |\n|---|:-:|\n| a | What is left is 0 |\n| b. Who asks waits | c |\n| d | Whoever asks. Waits |",
			[]string{`:3: a sentence with "What"`, `:4: a sentence with ". Who"`, `:5: a sentence with "Whoever"`}},
		{"two tables", "| What for |\n| --- |\n| a |\n\n| Who asks |\n| :-- |\n| b |", nil},
		{"a heading", "# What is left\n\n## Who asks\n\nAll.", nil},
		{"the line after a heading", "# A page\nWhat is left is 0.", []string{`:2: a sentence with "What"`}},
		{"code", "Run:\n\n    What is left\n    is 0. Who asks waits.\n\n```\n\nWhat is left is 0.\n```\nWho asks waits.", []string{`:10: a sentence with "Who"`}},
		{"questions", "Why? What is left, and for\nwhom? \"Who asks?\" All. *What then?* What is v1.2 for?\n\n| a |\n|---|\n| Who asks? |", nil},
		{"a question later on", "What is left is 0. Why?", []string{`:1: a sentence with "What"`}},
		{"a word that begins so", "Whole lines. Those are long. That is all.", nil},
		{"defined by another", "| a |\n|---|\n| width is that of a column |", []string{`"width is that of"`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			expect(t, checkSentences(documents([]textFile{{"docs/A.md", c.text}})), c.want...)
		})
	}
	expect(t, checkSentences(documents([]textFile{{"CHANGELOG.md", "What is left is 0."}, {"a.sh", "What is left is 0."}})))
}
