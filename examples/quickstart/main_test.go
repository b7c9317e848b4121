package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/ranktest"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
	"github.com/gaspi-go/gaspi-go/launcher"
	"github.com/google/go-cmp/cmp"
)

const program = "program" // the role in which the test program is the example itself

func TestMain(m *testing.M) {
	testenv.Main(m, map[string]testenv.Role{program: testenv.Program(main)})
}

func TestRing(t *testing.T) {
	for _, n := range []int{1, 2, 3, 8} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			o := ranktest.Succeeds(t, launcher.Config{Ranks: n}, program)
			var want []string
			for r := range n {
				want = append(want, fmt.Sprintf("[%d] rank %d of %d got %d", r, r, n, 100+(r+n-1)%n))
			}
			got := strings.Split(strings.TrimSpace(o.Stdout), "\n")
			slices.Sort(got)
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("output (-want +got):\n%s", d)
			}
		})
	}
}
