package lint

import "testing"

// hiddenTypes are the exported types of which godoc shows only the name. The list only shrinks.
var hiddenTypes = []string{
	"collectives.BFloat16", "collectives.Compression", "collectives.Element", "collectives.Float16", "collectives.Machine", "collectives.Op",
	"gaspi.Number", "gaspi.Op",
	"hoplite.BFloat16", "hoplite.Element", "hoplite.Float16", "hoplite.Op",
}

func TestAliases(t *testing.T) { report(t, checkAliases(loadModule(t).files, hiddenTypes)) }

func TestCheckAliases(t *testing.T) {
	const of = "package p\nimport \"m/internal/q\"\n"
	for _, c := range []struct {
		name, path, src string
		hidden, want    []string
	}{
		{"alias", "p/a.go", of + "type T = q.T\n", nil, []string{"p/a.go: type p.T is a type of m/internal/q, which godoc does not show"}},
		{"allowed", "p/a.go", of + "type T = q.T\n", []string{"p.T"}, nil},
		{"renamed import", "p/a.go", "package p\nimport r \"m/p/internal/q\"\ntype T = r.T\n", nil, []string{"is a type of m/p/internal/q"}},
		{"declared", "p/a.go", of + "type T q.T\n", nil, nil},
		{"allowed and declared", "p/a.go", of + "type T q.T\n", []string{"p.T"}, []string{"p.T is allowed to be hidden"}},
		{"of a public package", "p/a.go", "package p\nimport \"m/q\"\ntype T = q.T\n", nil, nil},
		{"not exported", "p/a.go", of + "type t = q.T\n", nil, nil},
		{"in an internal package", "internal/p/a.go", of + "type T = q.T\n", nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			expect(t, checkAliases(fake(t, map[string]string{c.path: c.src}).files, c.hidden), c.want...)
		})
	}
}
