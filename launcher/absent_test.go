package launcher

import (
	"strings"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/boot"
)

// TestRankThatNeverJoins wants the line after 10 s, and the end at the limit. It waits as
// long.
func TestRankThatNeverJoins(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits for 12 s")
	}
	t.Parallel()
	cfg := role("absent", 2)
	cfg.Env = append(cfg.Env, boot.EnvJoinTimeout+"=12s")
	o, err := runJob(t, cfg)
	if err != nil {
		t.Fatal(err)
	}
	const missing = "waiting for rank 1 (1 of 2 is missing)"
	if want := "rank 1 is gone: it has not joined: " + missing + " ended after 12s, the limit of GASPI_JOIN_TIMEOUT"; !strings.Contains(o.stderr, want) {
		t.Errorf("rank 0 said %q, want %q", o.stderr, want)
	}
	if !strings.Contains(o.notice, missing+" for 1") || o.ExitCode != 1 {
		t.Errorf("code %d, notices %q; want 1 and %q", o.ExitCode, o.notice, missing)
	}
}
