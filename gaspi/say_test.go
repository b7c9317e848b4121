package gaspi_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

// Goal: a line that the runtime itself writes to standard error, which nobody reads any more, does
// not end the process: how ranks are connected, and which ranks are missing.
func TestProcessesWhoseLinesNobodyReads(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		start int // ranks of two that are started
		env   []string
		want  string
	}{
		{"how ranks are connected", 2, []string{"GASPI_VERBOSE=1"}, "joined\n"},
		{"which ranks are missing", 1, []string{"GASPI_JOIN_TIMEOUT=11s"}, "gave up\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ctx := testenv.Context(t)
			unread, broken, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			unread.Close()
			defer broken.Close()
			ranks := byHand(ctx, t, 2, "unheard")[:c.start]
			var stdout [2]bytes.Buffer
			for r, cmd := range ranks {
				cmd.Env = append(cmd.Env, c.env...)
				cmd.Stdout, cmd.Stderr = &stdout[r], broken
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
			}
			for r, cmd := range ranks {
				if err := cmd.Wait(); err != nil || stdout[r].String() != c.want {
					t.Errorf("rank %d ended with %v and %q, want %q", r, err, stdout[r].String(), c.want)
				}
			}
		})
	}
}

// playUnheard joins a job and says on standard output whether it could.
func playUnheard(ctx context.Context, _ []string) error {
	p, err := gaspi.Init(ctx, small)
	if err != nil {
		fmt.Println("gave up")
		return nil
	}
	fmt.Println("joined")
	return p.Close()
}

// TestRankThatNeverComes starts two ranks of three by variables: the first says who is
// missing after 10 s, and both end at the limit.
func TestRankThatNeverComes(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits for 12 s")
	}
	t.Parallel()
	ranks := byHand(testenv.Context(t), t, 3, "talk")[:2]
	said := make([]bytes.Buffer, len(ranks))
	var both sync.WaitGroup
	for r, cmd := range ranks {
		both.Go(func() {
			cmd.Env = append(cmd.Env, "GASPI_JOIN_TIMEOUT=12s")
			cmd.Stdout, cmd.Stderr = &said[r], &said[r]
			if err := cmd.Run(); err == nil {
				t.Errorf("rank %d ended well", r)
			}
		})
	}
	both.Wait()
	const missing = `waiting for (rank 2 \(1 of 3 is|ranks 1 and 2 \(2 of 3 are) missing\)` // rank 1 may be late
	for r, want := range []string{"(?s)^gaspi: " + missing + " for 1.*" + missing + " ended after 12s", "the limit of GASPI_JOIN_TIMEOUT"} {
		if got := said[r].String(); !regexp.MustCompile(want).MatchString(got) || strings.Contains(got, "the launcher is gone") {
			t.Errorf("rank %d said %q, want %s", r, got, want)
		}
	}
}
