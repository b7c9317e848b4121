package vm

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

// TestCPIO has the archive unpacked by cpio, which knows nothing of how it was
// written.
func TestCPIO(t *testing.T) {
	testenv.Need(t, "cpio")
	var archive bytes.Buffer
	c := newCPIO(&archive)
	files := map[string]string{"empty": "", "a/1": "x", "a/b/12": "xy", "a/b/123": "xyz", "c/1234": "1234", "c/12345": "12345"}
	for name, data := range files {
		if err := c.File(name, 0o751, strings.NewReader(data), int64(len(data))); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Link("a/link", "b/12"); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "cpio", "-id", "--quiet")
	cmd.Dir, cmd.Stdin = dir, &archive
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Fatalf("cpio: %v\n%s", err, out)
	}
	got := map[string]string{}
	for name := range files {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Error(err)
		}
		got[name] = string(data)
	}
	if diff := cmp.Diff(files, got); diff != "" {
		t.Error(diff)
	}
	info, err := os.Stat(filepath.Join(dir, "a/1"))
	if err != nil || info.Mode() != 0o751 {
		t.Errorf("mode of a file: %v, %v, want 0751", info, err)
	}
	if target, err := os.Readlink(filepath.Join(dir, "a/link")); target != "b/12" {
		t.Errorf("link to %q, %v, want b/12", target, err)
	}
}

func TestCPIORefuses(t *testing.T) {
	for _, c := range []struct {
		name string
		size int64
		want string
	}{
		{"file that has shrunk", 5, "ended after 3 of 5 bytes"},
		{"huge file", 1 << 32, "less than 4 GiB"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var archive bytes.Buffer
			err := newCPIO(&archive).File("f", 0o644, strings.NewReader("xyz"), c.size)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}
