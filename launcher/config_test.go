package launcher

import (
	"strings"
	"testing"
	"time"
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
		{"debugged rank", func(c *Config) { c.Debug = []Rank{1} }, "rank 1 cannot be debugged: the ranks of the job are 0 to 0"},
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
