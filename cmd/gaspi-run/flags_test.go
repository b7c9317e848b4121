package main

import (
	"fmt"
	"strconv"
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
		{"prog", launcher.Config{Program: "prog", KillGrace: 5 * time.Second}},
		{"-n 4 prog -n 5 --output x -- y", launcher.Config{Program: "prog", Args: strings.Fields("-n 5 --output x -- y"), Ranks: 4, KillGrace: 5 * time.Second}},
		{"-n4 -- -prog --help", launcher.Config{Program: "-prog", Args: []string{"--help"}, Ranks: 4, KillGrace: 5 * time.Second}},
		{"--output raw --bind core --on-failure continue p", launcher.Config{Program: "p", Output: launcher.OutputRaw, Bind: launcher.BindCore, OnFailure: launcher.Continue, KillGrace: 5 * time.Second}},
		{"--output=dir:a:b p", launcher.Config{Program: "p", Output: launcher.OutputDir, OutputDir: "a:b", KillGrace: 5 * time.Second}},
		{"--env A=b,c --env D= --timeout 90s --kill-grace 0 p", launcher.Config{Program: "p", Env: []string{"A=b,c", "D="}, Timeout: 90 * time.Second, KillGrace: -1}},
		{"--hosts a:2,b --transport tcp --interface ^lo --tls --stage --heartbeat 3s p", launcher.Config{Program: "p", Hosts: []launcher.Host{{Name: "a", Slots: 2}, {Name: "b", Slots: 1}},
			Transport: "tcp", Interface: "^lo", TLS: true, Remote: launcher.Remote{Stage: true}, Heartbeat: 3 * time.Second, KillGrace: 5 * time.Second}},
		{"-np 3 -v -x A=-np -x HERE --host a:3 p -np 4", launcher.Config{Program: "p", Args: []string{"-np", "4"}, Ranks: 3, Hosts: []launcher.Host{{Name: "a", Slots: 3}},
			Env: []string{"A=-np", "HERE=x=y", "GASPI_VERBOSE=1"}, KillGrace: 5 * time.Second}},
		{"--np 2 -vx -np=1 -host a,b -- -np", launcher.Config{Program: "-np", Ranks: 2, Hosts: []launcher.Host{{Name: "a", Slots: 1}, {Name: "b", Slots: 1}},
			Env: []string{"-np=1", "GASPI_VERBOSE=1"}, KillGrace: 5 * time.Second}},
		{"-np4 --heartbeat 0 ./help", launcher.Config{Program: "./help", Ranks: 4, KillGrace: 5 * time.Second, Heartbeat: launcher.NoHeartbeat}},
		{"-np=5 -- help", launcher.Config{Program: "help", Ranks: 5, KillGrace: 5 * time.Second}},
		{"--emulate latency=1ms,bandwidth=1GB/s p", launcher.Config{Program: "p", Env: []string{"GASPI_EMULATE=latency=1ms,bandwidth=1GB/s"}, KillGrace: 5 * time.Second}},
		{"--hosts=a --ssh=ssh\u00a0-p\u00a02222 p", launcher.Config{Program: "p", Hosts: []launcher.Host{{Name: "a", Slots: 1}}, Remote: launcher.Remote{SSH: []string{"ssh", "-p", "2222"}}, KillGrace: 5 * time.Second}},
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
		c.want.StallTimeout = time.Minute
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

// TestFlagsAndVariables has each flag that has a variable of the same meaning be given or not,
// while the variable is not set, says something else, or nonsense.
func TestFlagsAndVariables(t *testing.T) {
	const nonsense = "/nonsense/"
	nodes := "--nnodes 2 --node-rank 1 --rendezvous a:1 --key-file k "
	cases := []struct {
		variable, value, flag string
		want                  [3]string // if nobody says it; by the variable; by the flag
		refused               [2]bool   // whether nonsense is refused without the flag, and with it
		get                   func(*options) string
	}{
		{"GASPI_TRANSPORT", "shm", "--transport tcp", [3]string{"", "shm", "tcp"}, [2]bool{true, false}, func(o *options) string { return o.forcedTransport() }},
		{"GASPI_INTERFACE", "lo", "--interface 127.0.0.1", [3]string{"", "", "127.0.0.1"}, [2]bool{true, false}, func(o *options) string { return o.config.Interface }},
		{"GASPI_PORTS", "7000-7009", "--ports 7010-7019", [3]string{"", "", "7010-7019"}, [2]bool{true, false}, func(o *options) string { return o.config.Ports }},
		{"GASPI_TLS", "1", "--tls", [3]string{"false ", "false 1", "true 1"}, [2]bool{true, false}, tlsOf},
		{"GASPI_TLS", "1", "--tls=false", [3]string{"false ", "false 1", "false 0"}, [2]bool{true, false}, tlsOf},
		{"GASPI_HEARTBEAT", "3s", "--heartbeat 4s", [3]string{"0s", "0s", "4s"}, [2]bool{true, false}, func(o *options) string { return o.config.Heartbeat.String() }},
		{"GASPI_HEARTBEAT", "3s", "--heartbeat 0", [3]string{"0s", "0s", "-1ns"}, [2]bool{true, false}, func(o *options) string { return o.config.Heartbeat.String() }},
		{"GASPI_EMULATE", "latency=1ms", "--emulate latency=2ms", [3]string{"", "latency=1ms", "latency=2ms"}, [2]bool{true, false}, func(o *options) string { return o.setting("GASPI_EMULATE") }},
		{"GASPI_RDMA_PROVIDER", "tcp", "--rdma-provider verbs", [3]string{"", "tcp", "verbs"}, [2]bool{}, func(o *options) string { return o.setting("GASPI_RDMA_PROVIDER") }},
		// Ranks wait for each other for as long as the variable says, whatever nodes do.
		{"GASPI_JOIN_TIMEOUT", "3s", nodes + "--join-timeout 4s", [3]string{"0s", "0s", "4s"}, [2]bool{true, true}, func(o *options) string { return o.config.Node.JoinTimeout.String() }},
		{"GASPI_KEY_FILE", "f", nodes, [3]string{"", "", "k"}, [2]bool{}, func(o *options) string { return o.config.Node.KeyFile }},
		{"JOB_COMPLETION_INDEX", "0", nodes, [3]string{"0", "0", "1"}, [2]bool{}, func(o *options) string { return strconv.Itoa(o.config.Node.Number) }},
	}
	for _, c := range cases {
		for i, value := range []string{"", c.value, nonsense} {
			for flag, line := range []string{"true", c.flag + " true"} {
				t.Run(fmt.Sprintf("%s=%s %s", c.variable, value, line), func(t *testing.T) {
					if value != "" {
						t.Setenv(c.variable, value)
					}
					o, err := parse(strings.Fields(line))
					if value == nonsense && c.refused[flag] {
						if err == nil || !strings.HasPrefix(err.Error(), c.variable) || !strings.Contains(err.Error(), nonsense) {
							t.Errorf("%v, want an error that begins with %s and has %s", err, c.variable, nonsense)
						}
						return
					}
					want := c.want[min(i, 1)]
					if flag == 1 {
						want = c.want[2]
					} else if value == nonsense {
						return // it is not looked at
					}
					if c.variable == "GASPI_TLS" && flag == 1 && c.flag == "--tls" {
						want = "true " + value
					}
					if err != nil {
						t.Fatal(err)
					}
					if got := c.get(o); got != want {
						t.Errorf("%q, want %q", got, want)
					}
				})
			}
		}
	}
}

// tlsOf is what a command line and the environment of ranks say about TLS.
func tlsOf(o *options) string { return fmt.Sprint(o.config.TLS, " ", o.setting("GASPI_TLS")) }

// TestNodeRankVariables refuses what numbers no node.
func TestNodeRankVariables(t *testing.T) {
	for _, name := range nodeRankVariables {
		for value, ok := range map[string]bool{"0": true, "1": true, "2": false, "-1": false, "x": false, "": false} {
			t.Run(name+"="+value, func(t *testing.T) {
				t.Setenv(name, value)
				o, err := parse(strings.Fields("--nnodes 2 --rendezvous a:1 --key-file k true"))
				switch want := fmt.Sprintf("%s=%q: expected the number of this node, from 0 to 1; --node-rank says it too", name, value); {
				case ok && (err != nil || strconv.Itoa(o.config.Node.Number) != value):
					t.Errorf("%+v, %v", o, err)
				case !ok && (err == nil || err.Error() != want):
					t.Errorf("%v, want %s", err, want)
				}
			})
		}
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
