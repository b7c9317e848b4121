package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var (
	comment     = regexp.MustCompile(`(?s)/\*.*?\*/`)
	declaration = regexp.MustCompile(`(?m)^[a-z][\w ]*[ *](p?gaspi_\w+)\([^;]*\);`)
	fortranName = regexp.MustCompile(`(?i)bind\(c, *name *= *"(gaspi_\w+)"\)`)
)

// A function of C is its name, and its declaration in one line.
type function struct{ name, text string }

// functions are those that a header declares, in its order.
func functions(t *testing.T, header string) []function {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("include", header))
	if err != nil {
		t.Fatal(err)
	}
	var all []function
	for _, m := range declaration.FindAllStringSubmatch(comment.ReplaceAllString(string(text), ""), -1) {
		all = append(all, function{m[1], strings.Join(strings.Fields(m[0]), " ")})
	}
	return all
}

// PGASPI.h declares the functions of the other two headers, by their other names.
func TestPGASPI(t *testing.T) {
	var want []string
	for _, f := range slices.Concat(functions(t, "GASPI.h"), functions(t, "GASPI_Ext.h")) {
		if !strings.HasPrefix(f.name, "p") {
			want = append(want, strings.Replace(f.text, f.name, "p"+f.name, 1))
		}
	}
	var got []string
	for _, f := range functions(t, "PGASPI.h") {
		got = append(got, f.text)
	}
	slices.Sort(want)
	slices.Sort(got)
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("functions of PGASPI.h (-want +got):\n%s", d)
	}
}

// Modules of Fortran have the functions of the headers.
func TestFortranHasAllFunctions(t *testing.T) {
	for header, module := range map[string]string{"GASPI.h": "gaspi.f90", "GASPI_Ext.h": "gaspi_ext.f90"} {
		text, err := os.ReadFile(filepath.Join("fortran", module))
		if err != nil {
			t.Fatal(err)
		}
		var want, got []string
		for _, f := range functions(t, header) {
			if !strings.HasPrefix(f.name, "p") {
				want = append(want, f.name)
			}
		}
		for _, m := range fortranName.FindAllStringSubmatch(string(text), -1) {
			got = append(got, m[1])
		}
		slices.Sort(want)
		slices.Sort(got)
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("functions of %s (-want +got):\n%s", module, d)
		}
	}
}
