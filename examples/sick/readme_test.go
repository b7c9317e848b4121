package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// variable are the parts of reports that differ from run to run, or by the algorithm that is taken.
var variable = regexp.MustCompile(`\d+(\.\d+)? m?s\b|pid \d+|team, [a-z ]+, step \d+ of \d+`)

// inReadme fails the test unless the page shows a line, but for what differs from run to run.
func inReadme(t *testing.T, line string) {
	t.Helper()
	page, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	same := func(text string) string { return variable.ReplaceAllString(strings.TrimSpace(text), "~") }
	for shown := range strings.Lines(string(page)) {
		if same(shown) == same(line) {
			return
		}
	}
	t.Errorf("README.md does not show %s", same(line))
}
