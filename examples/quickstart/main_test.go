package main

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/gaspi-go/gaspi-go/launcher"
	"github.com/google/go-cmp/cmp"
)

// asRank makes the test program the example itself.
const asRank = "QUICKSTART_TEST_AS_RANK"

func TestMain(m *testing.M) {
	if os.Getenv(asRank) != "" {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestRing(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{1, 2, 3, 8} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			result, err := launcher.Run(t.Context(), launcher.Config{
				Program: self, Ranks: n, Env: []string{asRank + "=1"}, Stdout: &stdout, Stderr: &stderr,
			})
			if err != nil || result.ExitCode != 0 {
				t.Fatalf("%v %v\n%s", err, result.Sentence, stderr.String())
			}
			var want []string
			for r := range n {
				want = append(want, fmt.Sprintf("[%d] rank %d of %d got %d", r, r, n, 100+(r+n-1)%n))
			}
			got := strings.Split(strings.TrimSpace(stdout.String()), "\n")
			slices.Sort(got)
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("output (-want +got):\n%s", d)
			}
		})
	}
}
