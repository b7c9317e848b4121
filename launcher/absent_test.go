package launcher

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/boot"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

// TestRankThatNeverJoins wants the line that comes 10 s after the first rank has joined, and the end at
// the limit, which counts from the start of the job. It waits as long, and has a longer limit where the
// machine is too slow for the line to come before it.
func TestRankThatNeverJoins(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits for 12 s")
	}
	t.Parallel()
	const missing = "waiting for rank 1 (1 of 2 is missing)"
	for limit := 12 * time.Second; ; limit *= 2 {
		cfg := role("absent", 2)
		cfg.Env = append(cfg.Env, boot.EnvJoinTimeout+"="+limit.String())
		o, err := runJob(t, cfg)
		if err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf("rank 1 is gone: it has not joined: %s ended after %v, the limit of GASPI_JOIN_TIMEOUT", missing, limit)
		if !strings.Contains(o.told, missing+" for 1") && 2*limit < testenv.Limit(t) {
			continue
		}
		if !strings.Contains(o.stderr, want) {
			t.Errorf("rank 0 said %q, want %q", o.stderr, want)
		}
		if !strings.Contains(o.told, missing+" for 1") || o.ExitCode != 1 {
			t.Errorf("code %d, notices %q; want 1 and %q", o.ExitCode, o.told, missing)
		}
		if strings.Contains(o.notice, missing+" for") {
			t.Errorf("tests take the reminder for a complaint: %q", o.notice)
		}
		return
	}
}
