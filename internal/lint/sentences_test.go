package lint

import "testing"

func TestSentencesHaveASubject(t *testing.T) { report(t, checkSentences(loadModule(t).files)) }

func TestCheckSentences(t *testing.T) {
	for _, c := range []struct {
		name, comment string
		want          []string
	}{
		{"a subject", "// f returns what it is given, who sent it, and that of the other.", nil},
		{"what", "// What is given is returned.", []string{`p/a.go:3: a sentence with "What"`}},
		{"in the middle", "// f returns it. What is not given is\n// lost.", []string{`a sentence with ". What"`}},
		{"who, on the next line", "// f returns it.\n// Who asks waits.", []string{`a sentence with ". Who"`}},
		{"after a colon", "// Beware: Whoever asks waits.", []string{`": Whoever"`}},
		{"a word that begins so", "// Whole lines are returned. Those are long. That is all.", nil},
		{"that of", "// f returns it. That of the root is 0.", []string{`". That of"`}},
		{"defined by another", "// f is that of a column.", []string{`"f is that of"`}},
		{"many defined by others", "// fs are those of a call.", []string{`"fs are those of"`}},
		{"compared with another", "// f returns a length. The unit is that of Size.", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := fake(t, map[string]string{"p/a.go": "package p\n\n" + c.comment + "\nvar x int\n"})
			expect(t, checkSentences(m.files), c.want...)
		})
	}
}
