package testenv

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// WriteTree writes files, index is their slash-separated name, into a new directory, which
// becomes the current one until the test ends. One that begins with #! can be executed.
func WriteTree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		mode := os.FileMode(0o600)
		if strings.HasPrefix(text, "#!") {
			mode = 0o700
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	return dir
}
