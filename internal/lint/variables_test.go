package lint

import (
	"os"
	"path/filepath"
	"testing"
)

func TestVariables(t *testing.T) {
	m := loadModule(t)
	text, err := os.ReadFile(filepath.Join(m.root, variablesFile))
	if err != nil {
		t.Fatal(err)
	}
	report(t, checkVariables(m.files, string(text)))
}

func TestCheckVariables(t *testing.T) {
	m := fake(t, map[string]string{
		"a/a.go":      "package a\nconst x = \"GASPI_ONE\"\nvar y = f(\"GASPI_TWO\", \"GASPI_BENCH_X\", \"GASPI_\", \"GASPI_ONE=1\")\n",
		"a/a_test.go": "package a\nconst z = \"GASPI_THREE\"\n",
	})
	const head = "| variable | meaning |\n|---|---|\n"
	for _, c := range []struct {
		name, page string
		want       []string
	}{
		{"good", head + "| `GASPI_ONE`, `GASPI_TWO` | m |\n", nil},
		{"no row", head + "| `GASPI_ONE` | like `GASPI_TWO` |\n", []string{"a/a.go:3: GASPI_TWO has no row"}},
		{"nobody reads it", head + "| `GASPI_ONE` | m |\n| `GASPI_TWO` | m |\n| `GASPI_THREE` | m |\n", []string{"no source names GASPI_THREE"}},
	} {
		t.Run(c.name, func(t *testing.T) { expect(t, checkVariables(m.files, c.page), c.want...) })
	}
}
