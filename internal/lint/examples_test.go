package lint

import "testing"

// exemptTypes are the exported types without an example of their own, and why. Each is the type
// of another package, which has one, or a part of a type in whose example it is used.
var exemptTypes = map[string]string{
	"gaspi/base.InDoubtError":   "is gaspi.InDoubtError",
	"gaspi/base.Rank":           "is gaspi.Rank",
	"gaspi/base.RankError":      "is gaspi.RankError",
	"gaspi/datatype.BFloat16":   "is collectives.BFloat16",
	"gaspi/datatype.Element":    "is collectives.Element",
	"gaspi/datatype.Float16":    "is collectives.Float16",
	"gaspi/datatype.Loc":        "is collectives.Loc",
	"gaspi/datatype.LocValue":   "is the constraint of collectives.Loc",
	"gaspi/datatype.Number":     "is gaspi.Number",
	"gaspi/datatype.Op":         "is gaspi.Op",
	"collectives/model.Link":    "is a part of collectives.Machine",
	"collectives/model.Machine": "is collectives.Machine",
	"gaspi/emulation.Emulator":  "is for package gaspi",
	"gaspi/emulation.Status":    "is used in the example of gaspi.Proc.Emulation",
	"hoplite.BFloat16":          "is collectives.BFloat16",
	"hoplite.Element":           "is collectives.Element",
	"hoplite.Float16":           "is collectives.Float16",
	"hoplite.Links":             "is used in the example of hoplite.Config",
	"hoplite.Loc":               "is collectives.Loc",
	"hoplite.Op":                "is collectives.Op",
	"launcher.CollectiveStats":  "is a part of launcher.RankStats",
	"launcher.PeerStats":        "is a part of launcher.RankStats",
	"launcher.Rank":             "is gaspi.Rank",
	"gaspi.CollectiveStats":     "is used in the example of gaspi.CollectiveCounter",
	"segment.ID":                "is gaspi.SegmentID",
	"ssp.Op":                    "is gaspi.Op",
}

func TestExamples(t *testing.T) { report(t, checkExamples(loadModule(t).files, exemptTypes)) }

func TestCheckExamples(t *testing.T) {
	const types = "package p\ntype T[E any] struct{}\ntype hidden int\n"
	example := func(name string) string {
		return "package p_test\nfunc " + name + "() {\n\tf()\n\t// Output:\n\t// 1\n}\n"
	}
	for _, c := range []struct {
		name, path, src, test string
		exempt                map[string]string
		want                  []string
	}{
		{"missing", "p/a.go", types, "", nil, []string{"p/a.go:2: type p.T has no example; write ExampleT"}},
		{"of the type", "p/a.go", types, example("ExampleT"), nil, nil},
		{"of a method", "p/a.go", types, example("ExampleT_Close"), nil, nil},
		{"of a package", "p/a.go", types, example("Example"), nil, []string{"type p.T has no example"}},
		{"of a longer name", "p/a.go", types, example("ExampleTask"), nil, []string{"type p.T has no example"}},
		{"of a function", "p/a.go", types + "func Open() (*T[int], error)\n", example("ExampleOpen"), nil, nil},
		{"of a function for something else", "p/a.go", types + "func Open(*T[int]) error\n", example("ExampleOpen"), nil, []string{"type p.T has no example"}},
		{"not run", "p/a.go", types, "package p_test\nfunc ExampleT() {}\n", nil, []string{"type p.T has no example"}},
		{"in a file that is no test", "p/a.go", types + "func ExampleT() {\n\t// Output: 1\n}\n", "", nil, []string{"type p.T has no example"}},
		{"exempt", "p/a.go", types, "", map[string]string{"p.T": "is q.T"}, nil},
		{"exempt and shown", "p/a.go", types, example("ExampleT"), map[string]string{"p.T": "is q.T"}, []string{"p/a.go:2: type p.T has an example; take it off"}},
		{"exempt and nowhere", "p/a.go", types, example("ExampleT"), map[string]string{"p.U": "is q.U"}, []string{"p.U is exempt from examples and no public package declares it"}},
		{"internal", "internal/p/a.go", types, "", nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			sources := map[string]string{c.path: c.src}
			if c.test != "" {
				sources["p/a_test.go"] = c.test
			}
			expect(t, checkExamples(fake(t, sources).files, c.exempt), c.want...)
		})
	}
}
