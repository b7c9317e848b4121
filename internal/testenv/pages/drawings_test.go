//go:build !race

package pages_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

// image matches a drawing of a page, with the text that says the same.
var image = regexp.MustCompile(`!\[([^\]]*)\]\((img/[\w.]+)\)`)

// TestDrawingsOfGuide: the drawings of docs/guide are the ones that draw.go writes, and each is
// shown by a page, with a text for readers who do not see it.
func TestDrawingsOfGuide(t *testing.T) {
	dir := t.TempDir()
	draw := exec.CommandContext(t.Context(), "go", "run", "docs/guide/img/draw.go", dir)
	draw.Dir = root
	if out, err := draw.CombinedOutput(); err != nil {
		t.Fatalf("go run draw.go: %v\n%s", err, out)
	}
	shown := drawingsShown(t)
	for _, name := range slices.Concat(drawingsIn(t, dir), drawingsIn(t, filepath.Join(root, "docs/guide/img"))) {
		want, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Errorf("draw.go does not write docs/guide/img/%s: remove it", name)
			continue
		}
		got, err := os.ReadFile(filepath.Join(root, "docs/guide/img", name))
		if err != nil || string(got) != string(want) {
			t.Errorf("docs/guide/img/%s is not as draw.go writes it (%v): go run docs/guide/img/draw.go docs/guide/img", name, err)
		}
		if !shown["img/"+name] {
			t.Errorf("no page of docs/guide shows img/%s", name)
		}
	}
}

// drawingsShown returns the drawings that pages of the guide show.
func drawingsShown(t *testing.T) map[string]bool {
	t.Helper()
	shown := map[string]bool{}
	for _, page := range guide(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range image.FindAllStringSubmatch(string(text), -1) {
			if shown[found[2]] = true; len(found[1]) < 80 {
				t.Errorf("%s: the text of %s is %q: let it say what the drawing says", page, found[2], found[1])
			}
		}
	}
	return shown
}

// drawingsIn returns the names of the drawings in a folder, of which there are some.
func drawingsIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "*.svg"))
	if err != nil || len(found) == 0 {
		t.Fatalf("drawings in %s: %v, %v", dir, found, err)
	}
	for _, name := range found {
		names = append(names, filepath.Base(name))
	}
	return names
}
