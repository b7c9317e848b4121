package launcher

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

func TestBadConfigs(t *testing.T) {
	cases := []struct {
		name   string
		change func(*Config)
		want   string
	}{
		{"no program", func(c *Config) { c.Program = "" }, "no program"},
		{"negative ranks", func(c *Config) { c.Ranks = -1 }, "-1 ranks: a job has 1 to 65536"},
		{"too many ranks", func(c *Config) { c.Ranks = MaxRanks + 1 }, "65537 ranks"},
		{"output", func(c *Config) { c.Output = 9 }, "output kind 9"},
		{"no directory", func(c *Config) { c.Output = OutputDir }, "no directory"},
		{"idle directory", func(c *Config) { c.OutputDir = "x" }, "does not go to a directory"},
		{"timeout", func(c *Config) { c.Timeout = -time.Second }, "timeout -1s is negative"},
		{"heartbeat", func(c *Config) { c.Heartbeat = time.Millisecond }, "heartbeat 1ms: expected at least 100ms"},
		{"long heartbeat", func(c *Config) { c.Heartbeat = 25 * time.Hour }, "heartbeat 25h0m0s: expected at most 24h0m0s, or NoHeartbeat"},
		{"bind", func(c *Config) { c.Bind = 9 }, "binding 9"},
		{"on failure", func(c *Config) { c.OnFailure = 9 }, "failure 9"},
		{"argument", func(c *Config) { c.Args = []string{"a\x00b"} }, "zero byte"},
		{"environment without value", func(c *Config) { c.Env = []string{"K"} }, `"K": expected NAME=VALUE`},
		{"environment without name", func(c *Config) { c.Env = []string{"=v"} }, "expected NAME=VALUE"},
		{"environment with zero", func(c *Config) { c.Env = []string{"K=\x00"} }, "zero byte"},
		{"reserved variable", func(c *Config) { c.Env = []string{"GASPI_RANK=1"} }, "sets GASPI_RANK itself"},
	}
	for _, c := range cases {
		cfg := Config{Program: "true", Ranks: 1}
		c.change(&cfg)
		if _, err := Run(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want an error with %q", c.name, err, c.want)
		}
	}
}

func TestDefaults(t *testing.T) {
	got, err := Config{Program: "x"}.withDefaults()
	if err != nil || got.Ranks < 1 || got.KillGrace != DefaultKillGrace || got.Heartbeat != DefaultHeartbeat || got.Stdout == nil || got.Stderr == nil || got.Notice == nil || got.Log == nil {
		t.Errorf("%+v, %v", got, err)
	}
}

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

func TestPausingTimer(t *testing.T) {
	var none pausingTimer
	none.start(0)
	none.pause()
	none.resume()
	if none.expired() != nil {
		t.Error("a limit of 0 can expire")
	}
	var limit pausingTimer
	limit.start(time.Hour)
	limit.pause()
	if limit.expired() != nil {
		t.Error("a paused limit can expire")
	}
	limit.paused = limit.paused.Add(-2 * time.Hour) // suspended for longer than the limit
	limit.resume()
	if left := time.Until(limit.deadline); left < 2*time.Hour {
		t.Errorf("%v left, want the 2 h that did not count added to 1 h", left)
	}
	limit.timer.Stop()
}
