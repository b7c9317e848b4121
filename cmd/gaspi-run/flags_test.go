package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"github.com/gaspi-go/gaspi-go/launcher"
)

func TestParse(t *testing.T) {
	cases := []struct {
		line string
		want launcher.Config
	}{
		{"prog", launcher.Config{Program: "prog", KillGrace: 5 * time.Second, Heartbeat: 10 * time.Second}},
		{"-n 4 prog -n 5 --output x -- y", launcher.Config{Program: "prog", Args: strings.Fields("-n 5 --output x -- y"), Ranks: 4, KillGrace: 5 * time.Second, Heartbeat: 10 * time.Second}},
		{"-n4 -- -prog --help", launcher.Config{Program: "-prog", Args: []string{"--help"}, Ranks: 4, KillGrace: 5 * time.Second, Heartbeat: 10 * time.Second}},
		{"--output raw --bind core --on-failure continue p", launcher.Config{Program: "p", Output: launcher.OutputRaw, Bind: launcher.BindCore, OnFailure: launcher.Continue, KillGrace: 5 * time.Second, Heartbeat: 10 * time.Second}},
		{"--output=dir:a:b p", launcher.Config{Program: "p", Output: launcher.OutputDir, OutputDir: "a:b", KillGrace: 5 * time.Second, Heartbeat: 10 * time.Second}},
		{"--env A=b,c --env D= --timeout 90s --kill-grace 0 p", launcher.Config{Program: "p", Env: []string{"A=b,c", "D="}, Timeout: 90 * time.Second, KillGrace: -1, Heartbeat: 10 * time.Second}},
		{"--hosts a:2,b --transport tcp --interface ^lo --tls --stage --heartbeat 3s p", launcher.Config{Program: "p", Hosts: []launcher.Host{{Name: "a", Slots: 2}, {Name: "b", Slots: 1}},
			Transport: "tcp", Interface: "^lo", TLS: true, Remote: launcher.Remote{Stage: true}, Heartbeat: 3 * time.Second, KillGrace: 5 * time.Second}},
		{"-np 3 -v -x A=-np -x HERE --host a:3 p -np 4", launcher.Config{Program: "p", Args: []string{"-np", "4"}, Ranks: 3, Hosts: []launcher.Host{{Name: "a", Slots: 3}},
			Env: []string{"A=-np", "HERE=x=y", "GASPI_VERBOSE=1"}, KillGrace: 5 * time.Second, Heartbeat: 10 * time.Second}},
		{"--np 2 -vx -np=1 -host a,b -- -np", launcher.Config{Program: "-np", Ranks: 2, Hosts: []launcher.Host{{Name: "a", Slots: 1}, {Name: "b", Slots: 1}},
			Env: []string{"-np=1", "GASPI_VERBOSE=1"}, KillGrace: 5 * time.Second, Heartbeat: 10 * time.Second}},
		{"-np4 --heartbeat 0 ./help", launcher.Config{Program: "./help", Ranks: 4, KillGrace: 5 * time.Second, Heartbeat: launcher.NoHeartbeat}},
		{"-np=5 -- help", launcher.Config{Program: "help", Ranks: 5, KillGrace: 5 * time.Second, Heartbeat: 10 * time.Second}},
		{"--emulate latency=1ms,bandwidth=1GB/s p", launcher.Config{Program: "p", Env: []string{"GASPI_EMULATE=latency=1ms,bandwidth=1GB/s"}, Heartbeat: 10 * time.Second, KillGrace: 5 * time.Second}},
		{"--hosts=a --ssh=ssh\u00a0-p\u00a02222 p", launcher.Config{Program: "p", Hosts: []launcher.Host{{Name: "a", Slots: 1}}, Remote: launcher.Remote{SSH: []string{"ssh", "-p", "2222"}}, Heartbeat: 10 * time.Second, KillGrace: 5 * time.Second}},
	}
	t.Setenv("HERE", "x=y")
	for _, c := range cases {
		o, err := parse(splitLine(c.line))
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

// splitLine splits at blanks, where a space that does not break stays a blank.
func splitLine(line string) []string {
	words := strings.Split(line, " ")
	for i := range words {
		words[i] = strings.ReplaceAll(words[i], "\u00a0", " ")
	}
	return words
}

func TestPlacesInASlurmAllocation(t *testing.T) {
	slurm := map[string]string{"SLURM_JOB_ID": "7", "SLURM_JOB_NODELIST": "h[1-3]", "SLURM_TASKS_PER_NODE": "2,1(x2)"}
	nodes := []launcher.Host{{Name: "h1", Slots: 2}, {Name: "h2", Slots: 1}, {Name: "h3", Slots: 1}}
	cases := []struct {
		name, line string
		hosts      []launcher.Host
		srun       bool
	}{
		{"all nodes", "p", nodes, true},
		{"some of the nodes", "--hosts h3:4,h1 p", []launcher.Host{{Name: "h3", Slots: 4}, {Name: "h1", Slots: 1}}, true},
		{"other hosts", "--hosts h1,x p", []launcher.Host{{Name: "h1", Slots: 1}, {Name: "x", Slots: 1}}, false},
		{"by ssh", "--ssh ssh p", nodes, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for name, value := range slurm {
				t.Setenv(name, value)
			}
			o, err := parse(splitLine(c.line))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.hosts, o.config.Hosts); d != "" || o.config.Remote.Srun != c.srun {
				t.Errorf("srun %v, want %v; hosts (-want +got):\n%s", o.config.Remote.Srun, c.srun, d)
			}
		})
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
