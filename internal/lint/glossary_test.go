package lint

import (
	"os"
	"path/filepath"
	"testing"
)

func TestGlossary(t *testing.T) {
	m := loadModule(t)
	text, err := os.ReadFile(filepath.Join(m.root, glossaryFile))
	if err != nil {
		t.Fatal(err)
	}
	report(t, checkGlossary(m.files, string(text)))
}

func TestCheckGlossary(t *testing.T) {
	m := fake(t, map[string]string{
		"a/a.go":      "package a\ntype T int\ntype u = T\n",
		"a/b/b.go":    "package b\ntype T int\n",
		"a/a_test.go": "package a\ntype V int\n",
	})
	const head = "# Nouns\n\n| term | meaning | source | type |\n|---|---|---|---|\n"
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"good", head + "| x | m | s | `a.T` |\n| y | m | s | `a.u`, `a/b.T` |\n\n# Verbs\n\n| term | meaning | source |\n|---|---|---|\n| do | m | s |\n", nil},
		{"no type of that name", head + "| x | m | s | `a.W` |\n", []string{`docs/GLOSSARY.md:5: "x" names the type a.W, which no source declares`}},
		{"in another folder", head + "| x | m | s | `b.T` |\n", []string{"b.T, which no source"}},
		{"of a test", head + "| x | m | s | `a.V` |\n", []string{"a.V, which no source"}},
		{"no type", head + "| x | m | s | T |\n", []string{`"x" names no type`}},
		{"two meanings", head + "| x | m | s | `a.T` |\n| y | m | s | `a.T` |\n", []string{`"x" and "y" both name the type a.T`}},
		{"twice", head + "| x | m | s | `a.T` |\n| x | n | s | `a.u` |\n", []string{`"x" is explained twice`}},
		{"out of order", head + "| y | m | s | `a.T` |\n| x | m | s | `a.u` |\n", []string{`"x" comes after "y"`}},
		{"no source", head + "| x | m |  | `a.T` |\n", []string{`the row of "x" has an empty cell`}},
		{"no table", "# Nouns\n", []string{"there is no table"}},
	} {
		t.Run(c.name, func(t *testing.T) { expect(t, checkGlossary(m.files, c.text), c.want...) })
	}
}
