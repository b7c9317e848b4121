package executable

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

func TestFind(t *testing.T) {
	dir := testenv.WriteTree(t, map[string]string{
		"bin/tool":        "#!/bin/sh\n",
		"bin/both":        "#!/bin/sh\n",
		"both/main.go":    "package main\n",
		"plain":           "text",
		"here":            "#!/bin/sh\n",
		"pkg/[odd]/x.go":  "package main\n",
		"empty/readme.md": "",
		"single.go":       "package main\n",
	})
	t.Setenv("PATH", filepath.Join(dir, "bin"))
	cases := []struct {
		program string
		want    Target
		err     error
		says    string
	}{
		{program: "bin/tool", want: Target{binary: "bin/tool", name: "bin/tool"}},
		{program: "./here", want: Target{binary: "./here", name: "./here"}},
		{program: dir + "/here", want: Target{binary: dir + "/here", name: dir + "/here"}},
		{program: "tool", want: Target{binary: dir + "/bin/tool", name: "tool"}},
		{program: "both", want: Target{binary: dir + "/bin/both", name: "both"}},
		{program: "./both", want: Target{dir: "./both", pkg: ".", name: "both"}},
		{program: "both/", want: Target{dir: "both/", pkg: ".", name: "both"}},
		{program: "pkg/[odd]", want: Target{dir: "pkg/[odd]", pkg: ".", name: "[odd]"}},
		{program: ".", want: Target{dir: ".", pkg: ".", name: filepath.Base(dir)}},
		{program: "single.go", want: Target{dir: ".", pkg: "single.go", name: "single"}},
		{program: "both/main.go", want: Target{dir: "both", pkg: "main.go", name: "main"}},
		{program: "example.com/x/cmd/y", want: Target{pkg: "example.com/x/cmd/y", name: "y"}},
		{program: "cmd/gofmt", want: Target{pkg: "cmd/gofmt", name: "gofmt"}},
		{program: "nope", err: ErrNotFound, says: "PATH"},
		{program: "here", err: ErrNotFound, says: "write ./here"},
		{program: "./nope", err: ErrNotFound, says: "no such file"},
		{program: "/nope/x", err: ErrNotFound, says: "no such file"},
		{program: "bin/nope", err: ErrNotFound, says: "no such file"},
		{program: "nope.go", err: ErrNotFound, says: "no such file"},
		{program: "./empty", err: ErrNotExecutable, says: "without Go files"},
		{program: "./plain", err: ErrNotExecutable, says: "chmod +x"},
		{program: "/dev/null", err: ErrNotExecutable, says: "it is a device"},
		{program: "plain/x", err: ErrNotFound, says: "not a directory"},
	}
	for _, c := range cases {
		t.Run(c.program, func(t *testing.T) {
			got, err := Find(c.program)
			if c.says == "" {
				if d := cmp.Diff(c.want, got, cmp.AllowUnexported(Target{})); d != "" || err != nil {
					t.Errorf("%v (-want +got):\n%s", err, d)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.says) || c.err != nil && !errors.Is(err, c.err) {
				t.Errorf("%v; want an error with %q", err, c.says)
			}
		})
	}
}
