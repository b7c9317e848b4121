package program

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// names lists a directory.
func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := []string{}
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

func TestSaveWholeOrNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	if err := CheckWritable(path); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{}, names(t, dir)); diff != "" {
		t.Errorf("the check leaves something behind:\n%s", diff)
	}
	write := func(text string, err error) func(io.Writer) error {
		return func(w io.Writer) error {
			io.WriteString(w, text)
			return err
		}
	}
	if err := Save(path, write("first", nil)); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("no space")
	err := Save(path, write("half", broken))
	if want := path + " cannot be written: no space"; err == nil || err.Error() != want {
		t.Errorf("error is %v, want %s", err, want)
	}
	if got, _ := os.ReadFile(path); string(got) != "first" {
		t.Errorf("a failed save leaves %q", got)
	}
	if diff := cmp.Diff([]string{"out"}, names(t, dir)); diff != "" {
		t.Errorf("a failed save leaves something behind:\n%s", diff)
	}
	if err := Save(path, write("second", nil)); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(path); string(got) != "second" {
		t.Errorf("read %q, want second", got)
	}
}

// TestSaveKeepsDevices writes to something that is no file; replacing it would
// be a disaster for a program run by root.
func TestSaveKeepsDevices(t *testing.T) {
	if err := CheckWritable(os.DevNull); err != nil {
		t.Fatal(err)
	}
	if err := Save(os.DevNull, func(w io.Writer) error { _, err := io.WriteString(w, "x"); return err }); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(os.DevNull)
	if err != nil || info.Mode()&os.ModeDevice == 0 {
		t.Fatalf("%s is %v, %v", os.DevNull, info.Mode(), err)
	}
}

// TestSaveWritesThroughLinks: a link, such as /dev/stdout, stays one.
func TestSaveWritesThroughLinks(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := errors.Join(os.WriteFile(file, []byte("longer than that"), 0o644), os.Symlink("file", link), CheckWritable(link), SaveJSON(link, 1)); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != "1\n" {
		t.Errorf("read %q behind the link, %v", got, err)
	}
	if to, err := os.Readlink(link); err != nil || to != "file" {
		t.Errorf("the link leads to %q, %v", to, err)
	}
	if diff := cmp.Diff([]string{"file", "link"}, names(t, dir)); diff != "" {
		t.Errorf("left behind:\n%s", diff)
	}
}

func TestCheckWritableRejects(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ name, path, want string }{
		{"a directory", dir, "DIR is a directory; give the name of a file in it"},
		{"no such directory", dir + "/no/out", "DIR/no/out cannot be written: no such file or directory"},
		{"through a file", file + "/out", "DIR/file/out cannot be written: not a directory"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := CheckWritable(tt.path)
			if err == nil {
				t.Fatal("no error")
			}
			if diff := cmp.Diff(tt.want, strings.ReplaceAll(err.Error(), dir, "DIR")); diff != "" {
				t.Errorf("message (-want +got):\n%s", diff)
			}
		})
	}
}
