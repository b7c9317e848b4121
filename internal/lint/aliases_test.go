package lint

import "testing"

func TestAliases(t *testing.T) { report(t, checkAliases(loadModule(t).files)) }

func TestCheckAliases(t *testing.T) {
	const of = "package p\nimport \"m/internal/q\"\n"
	for _, c := range []struct {
		name, path, src string
		want            []string
	}{
		{"alias", "p/a.go", of + "type T = q.T\n", []string{"p/a.go: type p.T is a type of m/internal/q, which godoc does not show"}},
		{"renamed import", "p/a.go", "package p\nimport r \"m/p/internal/q\"\ntype T = r.T\n", []string{"is a type of m/p/internal/q"}},
		{"generic", "p/a.go", of + "type T[E any] = q.T[E]\n", []string{"type p.T is a type of m/internal/q"}},
		{"declared", "p/a.go", of + "type T q.T\n", nil},
		{"of a public package", "p/a.go", "package p\nimport \"m/q\"\ntype T = q.T\n", nil},
		{"not exported", "p/a.go", of + "type t = q.T\n", nil},
		{"in an internal package", "internal/p/a.go", of + "type T = q.T\n", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			expect(t, checkAliases(fake(t, map[string]string{c.path: c.src}).files), c.want...)
		})
	}
}
