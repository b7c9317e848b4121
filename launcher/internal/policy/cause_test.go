package policy

import (
	"syscall"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

func TestSentences(t *testing.T) {
	cases := []struct {
		cause cause
		over  bool
		want  string
	}{
		{cause{what: "rank 1 (pid 5) exited with status 3", after: 1200 * time.Millisecond, fatal: true}, true,
			"rank 1 (pid 5) exited with status 3 after 1.2 s"},
		{cause{what: "x", after: 90 * time.Second, peers: 3, fatal: true}, true, "x after 1m30s; ended the other 3 ranks"},
		{cause{what: "x", after: 42 * time.Millisecond, peers: 1, fatal: true}, true, "x after 42 ms; ended the other rank"},
		{cause{what: "x", after: 42 * time.Millisecond, loss: "it had lost rank 4 (silence)", peers: 1}, true, "x after 42 ms, once it had lost rank 4 (silence); the other rank goes on"},
		{cause{what: "x", peers: 2, fatal: true}, false, "x; waiting for the other 2 ranks to end"},
		{cause{what: "x", peers: 2, fatal: true, everyone: true}, true, "x; ended the 2 ranks"},
		{cause{what: "x", peers: 1, fatal: true, everyone: true}, true, "x; ended the rank"},
		{cause{what: "x", after: 1230 * time.Microsecond, peers: 1}, false, "x after 1.2 ms; the other rank goes on"},
		{cause{what: "x", peers: 4}, true, "x; the other 4 ranks go on"},
	}
	for _, c := range cases {
		if got := c.cause.sentence(c.over); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
		if early, late := testenv.Complaints(c.cause.sentence(false)), c.cause.sentence(true); early != late {
			t.Errorf("tests take %q for %q", early, late)
		}
	}
}

func TestRankExit(t *testing.T) {
	cases := []struct {
		exit             RankExit
		code             int
		describe, reason string
	}{
		{RankExit{Rank: 2, PID: 7}, 0, "rank 2 (pid 7) exited with status 0", "exit status 0"},
		{RankExit{Rank: 2, PID: 7, Status: 3}, 3, "rank 2 (pid 7) exited with status 3", "exit status 3"},
		{RankExit{Rank: 2, PID: 7, Signal: syscall.SIGKILL}, 137, "rank 2 (pid 7) was killed by signal 9 (killed)", "killed by signal 9"},
		{RankExit{Rank: 2, PID: 7, Signal: syscall.SIGSEGV, Core: true}, 139, "rank 2 (pid 7) was killed by signal 11 (segmentation fault) and dumped core", "killed by signal 11"},
	}
	for _, c := range cases {
		e := c.exit
		if e.Code() != c.code || e.describe() != c.describe || e.reason() != c.reason || e.Failed() != (c.code != 0) {
			t.Errorf("%d, %q, %q, failed %v; want %d, %q, %q", e.Code(), e.describe(), e.reason(), e.Failed(), c.code, c.describe, c.reason)
		}
	}
}
