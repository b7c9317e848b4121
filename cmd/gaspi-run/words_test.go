package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

// TestCompletion asks each shell itself for the last word of a line.
func TestCompletion(t *testing.T) {
	for _, shell := range testenv.Shells {
		t.Run(shell, func(t *testing.T) {
			var script strings.Builder
			if err := complete([]string{shell}, &script); err != nil {
				t.Fatal(err)
			}
			for _, f := range typedFlags() {
				if !strings.Contains(script.String(), f.name) {
					t.Errorf("no --%s", f.name)
				}
			}
			testenv.NeedShell(t, shell)
			for _, c := range []struct {
				line string
				want []string
			}{
				{"--hos", []string{"--hostfile", "--hosts"}},
				{"-n 4 --hos", []string{"--hostfile", "--hosts"}},
				{"-n 4 --bind c", []string{"core"}},
				{"--transport ", []string{"auto", "rdma", "shm", "tcp"}},
				{"--tls --on-f", []string{"--on-failure"}},
				{"completion z", []string{"zsh"}},
				{"completion zsh ", nil},
				{"-n 2 ./prog --hos", nil},
			} {
				got := testenv.Offered(t, shell, script.String(), "gaspi-run "+c.line)
				if c.want == nil { // files
					got = slices.DeleteFunc(got, func(s string) bool { return s == "script" || s == "inner" || s == "offered" })
				}
				if d := cmp.Diff(c.want, got, cmp.Transformer("nil", func(s []string) string { return strings.Join(s, " ") })); d != "" {
					t.Errorf("%q (-want +got):\n%s", c.line, d)
				}
			}
			// Programs of this host may begin so too.
			if got := testenv.Offered(t, shell, script.String(), "gaspi-run compl"); !slices.Contains(got, "completion") {
				t.Errorf("%q is offered for compl", got)
			}
		})
	}
}
