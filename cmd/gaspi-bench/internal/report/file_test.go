package report

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Goal: a drawing is written as a whole or not at all, and things that are no files stay what they are.
// Method: kinds of things under the name of --plot, with a drawing that succeeds and one that ends in its middle.
func TestWriteFile(t *testing.T) {
	broken := errors.New("no curve")
	for _, c := range []struct {
		name      string
		make      func(name string) error // nil makes nothing
		mode      os.FileMode             // of what is there afterwards
		read      string                  // where the drawing is then, empty for the name itself
		old, file string                  // content where the drawing ends in its middle, and where it succeeds
	}{
		{"nothing", nil, 0, "", "", "whole"},
		{"a file", func(name string) error { return os.WriteFile(name, []byte("old"), 0o600) }, 0, "", "old", "whole"},
		{"a link", func(name string) error {
			return errors.Join(os.WriteFile(name+".to", []byte("old"), 0o600), os.Symlink(name+".to", name))
		}, os.ModeSymlink, ".to", "old", "whole"},
		{"a pipe", pipe, os.ModeNamedPipe, "", "half", "whole"},
	} {
		for _, fails := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/%v", c.name, fails), func(t *testing.T) {
				name := filepath.Join(t.TempDir(), "x.svg")
				if c.make != nil {
					if err := c.make(name); err != nil {
						t.Fatal(err)
					}
				}
				before := entries(t, name)
				drawing := drawn{"whole", nil}
				want := c.file
				if fails {
					drawing, want = drawn{"half", broken}, c.old
				}
				read := reader(t, name, c.name == "a pipe")
				if err := Draw(name, drawing); !errors.Is(err, drawing.err) {
					t.Fatalf("%v, want %v", err, drawing.err)
				}
				if got := read(name + c.read); got != want {
					t.Errorf("there is %q, want %q", got, want)
				}
				info, err := os.Lstat(name)
				if c.make != nil && (err != nil || info.Mode().Type() != c.mode) {
					t.Errorf("%v %v, want %v", info, err, c.mode)
				}
				if c.make == nil && !fails {
					before = []string{"x.svg"}
				}
				if d := cmp.Diff(before, entries(t, name)); d != "" {
					t.Errorf("files (-want +got):\n%s", d)
				}
			})
		}
	}
}

// drawn is a drawing that writes a text and returns an error.
type drawn struct {
	text string
	err  error
}

func (d drawn) WriteSVG(w io.Writer) error {
	_, err := io.WriteString(w, d.text)
	return errors.Join(err, d.err)
}

func pipe(name string) error { return syscall.Mkfifo(name, 0o600) }

// reader returns a function that reads a file, empty if there is none. A pipe is read from now on.
func reader(t *testing.T, name string, isPipe bool) func(name string) string {
	if !isPipe {
		return func(name string) string {
			text, err := os.ReadFile(name)
			if err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Error(err)
			}
			return string(text)
		}
	}
	came := make(chan string, 1)
	go func() {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Error(err)
		}
		came <- string(text)
	}()
	return func(string) string { return <-came }
}

// entries are the names in the folder of a file.
func entries(t *testing.T, name string) []string {
	found, err := os.ReadDir(filepath.Dir(name))
	if err != nil {
		t.Fatal(err)
	}
	names := []string{}
	for _, e := range found {
		names = append(names, e.Name())
	}
	slices.Sort(names)
	return names
}
