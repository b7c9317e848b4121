package lint

import "testing"

func TestDocumentationNamesCodeThatExists(t *testing.T) { report(t, checkCodeRefs(loadModule(t))) }
func TestDocumentationLinksResolve(t *testing.T)        { report(t, checkLinks(loadModule(t))) }

func TestCheckCodeRefs(t *testing.T) {
	const src = `package p
type Queue struct{ depth int }
type Endpoint interface{ Put() }
func (q *Queue) Write() {}
func (b Box[T]) Open() {}
type Box[T any] struct{}
func New() {}
const Limit = 1
`
	for _, c := range []struct {
		name, line string
		want       []string
	}{
		{"function", "see `q.go:New`.", nil},
		{"with folder", "see `a/q.go:New`, then", nil},
		{"with part of the folder", "`deep/a/q.go:New`", []string{"no such file"}},
		{"not half a name", "`2q.go:New`", []string{"no such file"}},
		{"method", "`q.go:(*Queue).Write` `q.go:Queue.Write` `q.go:Write` q.go:Box.Open", nil},
		{"type, field, constant", "`q.go:Queue` `q.go:Queue.depth` `q.go:Endpoint.Put` `q.go:Limit`", nil},
		{"end of a sentence", "This is q.go:New.", nil},
		{"no such function", "`a/q.go:Old`", []string{"docs/A.md:2: a/q.go:Old: no such function"}},
		{"no such method", "`a/q.go:(*Queue).Read`", []string{"no such function, method"}},
		{"method of another type", "`a/q.go:Box.Write`", []string{"no such function, method"}},
		{"line number", "`a/q.go:12`", []string{"names a line"}},
		{"two in a line", "`q.go:A` and `q.go:B`", []string{"q.go:A", "q.go:B"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := fake(t, map[string]string{"a/q.go": src, "docs/A.md": "# A\n" + c.line + "\n"})
			expect(t, checkCodeRefs(m), c.want...)
		})
	}
}

func TestCheckLinks(t *testing.T) {
	const page = "# The page\n\n## A `code` heading, with [a link](other.md)!\n\n```\n# not a heading\n[x](nowhere.md)\n```\n"
	for _, c := range []struct {
		name, link string
		want       []string
	}{
		{"page", "page.md", nil},
		{"folder", "../docs", nil},
		{"source", "../a/q.go", nil},
		{"heading", "page.md#the-page", nil},
		{"heading with code", "page.md#a-code-heading-with-a-link", nil},
		{"own heading", "#top", nil},
		{"web", "https://example.org/x", nil},
		{"mail", "mailto:x@example.org", nil},
		{"missing", "gone.md", []string{"docs/A.md:3: link to gone.md: no such file"}},
		{"no such heading", "page.md#not-a-heading", []string{"no such heading"}},
		{"no such own heading", "#bottom", []string{"no such heading"}},
		{"absolute", "/docs/page.md", []string{"leaves the repository"}},
		{"outside", "../../x.md", []string{"leaves the repository"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := fake(t, map[string]string{
				"a/q.go":        "package p\n",
				"docs/page.md":  page,
				"docs/other.md": "",
				"docs/A.md":     "# Top\n\nA [link](" + c.link + ").\n",
			})
			expect(t, checkLinks(m), c.want...)
		})
	}
}
