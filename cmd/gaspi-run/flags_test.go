package main

import (
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"github.com/gaspi-go/gaspi-go/launcher"
)

func TestParse(t *testing.T) {
	ranks := runtime.NumCPU()
	cases := []struct {
		line string
		want launcher.Config
	}{
		{"prog", launcher.Config{Program: "prog", Ranks: ranks, KillGrace: 5 * time.Second}},
		{"-n 4 prog -n 5 --output x -- y", launcher.Config{Program: "prog", Args: strings.Fields("-n 5 --output x -- y"), Ranks: 4, KillGrace: 5 * time.Second}},
		{"-n4 -- -prog --help", launcher.Config{Program: "-prog", Args: []string{"--help"}, Ranks: 4, KillGrace: 5 * time.Second}},
		{"--output raw --bind core --on-failure continue p", launcher.Config{Program: "p", Ranks: ranks, Output: launcher.OutputRaw, Bind: launcher.BindCore, OnFailure: launcher.Continue, KillGrace: 5 * time.Second}},
		{"--output=dir:a:b p", launcher.Config{Program: "p", Ranks: ranks, Output: launcher.OutputDir, OutputDir: "a:b", KillGrace: 5 * time.Second}},
		{"--env A=b,c --env D= --timeout 90s --kill-grace 0 p", launcher.Config{Program: "p", Ranks: ranks, Env: []string{"A=b,c", "D="}, Timeout: 90 * time.Second, KillGrace: -1}},
	}
	for _, c := range cases {
		o, err := parse(strings.Fields(c.line))
		if err != nil {
			t.Errorf("%s: %v", c.line, err)
			continue
		}
		if len(o.config.Args) == 0 {
			o.config.Args = nil
		}
		if d := cmp.Diff(c.want, o.config); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.line, d)
		}
	}
}

func TestParseRefusals(t *testing.T) {
	cases := []struct{ line, want string }{
		{"", "no PROGRAM"},
		{"-n 2", "no PROGRAM"},
		{"-n 0 p", "-n 0: a job has at least 1 rank"},
		{"-n -3 p", "-n -3"},
		{"-n four p", `-n "four": expected a whole number`},
		{"--bogus p", "unknown flag: --bogus"},
		{"--output p", "no PROGRAM"},
		{"--output file p", `--output "file": expected label, raw or dir:PATH`},
		{"--output dir: p", `--output "dir:"`},
		{"--bind socket p", `--bind "socket": expected core or none`},
		{"--on-failure ignore p", `--on-failure "ignore": expected abort or continue`},
		{"--timeout 0 p", "--timeout 0s: expected more than 0"},
		{"--timeout 5 p", `--timeout "5": expected a duration such as`},
		{"--kill-grace -1s p", "--kill-grace -1s: expected 0 or more"},
	}
	for _, c := range cases {
		if o, err := parse(strings.Fields(c.line)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %+v, %v; want an error with %q", c.line, o, err, c.want)
		}
	}
	if _, err := parse([]string{"--help"}); !errors.Is(err, pflag.ErrHelp) {
		t.Errorf("--help: %v", err)
	}
}

func TestHelpNamesEveryFlag(t *testing.T) {
	o := &options{}
	text := help()
	o.flags().VisitAll(func(f *pflag.Flag) {
		if !strings.Contains(text, "--"+f.Name) {
			t.Errorf("--help does not mention --%s", f.Name)
		}
	})
	for line := range strings.Lines(text) {
		if len(line) > 100 {
			t.Errorf("line of %d bytes: %s", len(line), line)
		}
	}
}
