package gaspi_test

import (
	"os"
	"strings"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/testenv/pages"
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
// on with the lines of Example. The program itself is run with those of the guide
// (internal/testenv/pages), the lines of Example also over other transports (TestProcessesHalo).
func TestReadmeShowsTheExample(t *testing.T) {
	lines := between(t, "../examples/quickstart/main.go", "\tp, err := gaspi.Init", "\n\n") + "\n\n" +
		between(t, "example_test.go", "\tseg, err := p.CreateSegment", "\treturn nil\n")
	var want strings.Builder
	for line := range strings.Lines(lines) {
		want.WriteString(strings.TrimPrefix(line, "\t"))
	}
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range pages.Blocks("README.md", string(readme)) {
		if b.IsGo() {
			if b.Text != want.String() {
				t.Errorf("README.md has\n%s\nwant\n%s", b.Text, want.String())
			}
			return
		}
	}
	t.Error("README.md shows no program")
}
