package vm

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

// gate skips the tests that boot a guest unless they were asked for.
func gate(t *testing.T) {
	t.Helper()
	testenv.NeedStep(t, "GASPI_TEST_VM", "verbs")
}

// run boots a guest for a job and shows what it prints.
func runJob(t *testing.T, limit time.Duration, script string, files map[string]string) (status int, output string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	var printed strings.Builder
	start := time.Now()
	status, err := New(t).Run(ctx, Job{Script: script, Files: files, Output: &printed})
	t.Logf("%v\n%s", time.Since(start).Round(time.Second), printed.String())
	if err != nil {
		t.Fatal(err)
	}
	return status, printed.String()
}

// TestGuestHasVerbs is about the guest alone: what it has, and that verbs and
// libfabric move data in it, by the programs of their own packages.
func TestGuestHasVerbs(t *testing.T) {
	gate(t)
	status, output := runJob(t, 3*time.Minute, `
uname -r
/bin/rdma link
ibv_devinfo -v | grep -E 'max_cqe:|max_mr:|GID'

ibv_rc_pingpong -g 1 -n 100 -s 8192 >server.log 2>&1 &
sleep 1
ibv_rc_pingpong -g 1 -n 100 -s 8192 192.0.2.1 || exit 1
wait $! || { cat server.log; exit 2; }

export FI_UNIVERSE_SIZE=8 # or the queues are longer than the device has them
fi_pingpong -p 'verbs;ofi_rxm' -e rdm -I 10 -S 4096 >server.log 2>&1 &
sleep 1
fi_pingpong -p 'verbs;ofi_rxm' -e rdm -I 10 -S 4096 192.0.2.1 || { cat server.log; exit 3; }
wait $! || { cat server.log; exit 4; }
exit 42
`, nil)
	if status != 42 {
		t.Errorf("exit status %d, want 42", status)
	}
	for _, want := range []string{"rxe0/1 state ACTIVE", "::ffff:" + Address, "1638400 bytes in", "4k"} {
		if !strings.Contains(output, want) {
			t.Errorf("no %q was printed", want)
		}
	}
}
