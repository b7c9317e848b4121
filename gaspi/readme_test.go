package gaspi_test

import (
	"os"
	"strings"
	"testing"
)

// between returns the part of a file behind begin, which belongs to it, and before end.
func between(t *testing.T, file, begin, end string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, begun := strings.Cut(string(text), begin)
	part, _, ended := strings.Cut(rest, end)
	if !begun || !ended {
		t.Fatalf("%s: nothing between %q and %q", file, begin, end)
	}
	return begin + part
}

// TestReadmeShowsTheExample: the program of README.md begins as the quickstart does, and goes
// on with the lines of Example, which are compiled and run.
func TestReadmeShowsTheExample(t *testing.T) {
	lines := between(t, "../examples/quickstart/main.go", "\tp, err := gaspi.Init", "\n\n") + "\n\n" +
		between(t, "example_test.go", "\tseg, err := p.CreateSegment", "\treturn nil\n")
	var want strings.Builder
	want.WriteString("```go\n")
	for line := range strings.Lines(lines) {
		want.WriteString(strings.TrimPrefix(line, "\t"))
	}
	if got := between(t, "../README.md", "```go\n", "```\n"); got != want.String() {
		t.Errorf("README.md has\n%s\nwant\n%s", got, want.String())
	}
}
