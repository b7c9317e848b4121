package launcher

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/internal/testenv"
	"github.com/gaspi-go/gaspi-go/launcher/internal/agent"
	"github.com/gaspi-go/gaspi-go/launcher/internal/hosts"
)

// fakeSSH stands for ssh: it runs the command line on this machine, as a host of
// the name that it was given.
const fakeSSH = `#!/bin/sh
test "$1 $2 $3 $4" = "-T -x -o BatchMode=yes" || { echo "unexpected arguments: $*" >&2; exit 255; }
case $5 in
unknown) echo "ssh: Could not resolve hostname $5: Name or service not known" >&2; exit 255;;
silent) exec sleep 1000;;
deaf) cat >/dev/null; exec sleep 1000;;
esac
cd "$HOME"
HOSTNAME=$5 exec sh -c "$6"
`

// onHosts changes a job such that it runs on hosts, all of which are this
// machine; those called a, b and so on are reached by ssh.
func onHosts(t *testing.T, cfg Config, list string) Config {
	t.Helper()
	ssh := filepath.Join(t.TempDir(), "ssh")
	if err := os.WriteFile(ssh, []byte(fakeSSH), 0o700); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if cfg.Hosts, err = ParseHosts(list); err != nil {
		t.Fatal(err)
	}
	cfg.Remote.SSH, cfg.Remote.Agent = []string{ssh}, []string{self, "agent"}
	cfg.Interface = "127.0.0.1"
	if cfg.Program == "/proc/self/exe" {
		cfg.Program = self
	}
	return cfg
}

func TestHostsArgumentsAndEnvironmentAreExact(t *testing.T) {
	args := []string{"", "a b", `"quoted"`, `'`, "new\nline", "*", "$HOME", "\xff\xfe", "ünï"}
	o, err := runJob(t, onHosts(t, role("args", 0, args...), "a:2,localhost:2,b:2"))
	if err != nil || o.ExitCode != 0 {
		t.Fatalf("%v, %+v", err, o)
	}
	for r := range 6 {
		got := linesOf(o.stdout, r)
		var want []string
		for _, a := range args {
			want = append(want, fmt.Sprintf("%q", a))
		}
		if d := cmp.Diff(want, got[1:]); d != "" {
			t.Errorf("rank %d (-want +got):\n%s", r, d)
		}
	}
}

func TestHostsNumberTheirRanks(t *testing.T) {
	cfg := shell(0, `echo $HOSTNAME $GASPI_HOST $GASPI_RANK $GASPI_SIZE $GASPI_LOCAL_RANK $GASPI_LOCAL_SIZE $GASPI_TLS $GASPI_HEARTBEAT $GASPI_TRANSPORT $GASPI_INTERFACE $MINE $THEIRS; pwd`)
	cfg.Transport = "tcp"
	cfg.Env = []string{"MINE=added"}
	t.Setenv("THEIRS", "inherited")
	t.Setenv("HOSTNAME", "here")
	o, err := runJob(t, onHosts(t, cfg, "a:2,localhost,b,a"))
	if err != nil || o.ExitCode != 0 {
		t.Fatalf("%v, %+v", err, o)
	}
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	const same = " 0 10s tcp 127.0.0.1 added inherited"
	want := [][]string{
		{"a 0 0 5 0 3" + same, dir}, {"a 0 1 5 1 3" + same, dir}, {"a 0 2 5 2 3" + same, dir},
		{"here 1 3 5 0 1" + same, dir}, {"b 2 4 5 0 1" + same, dir},
	}
	for r := range want {
		if d := cmp.Diff(want[r], linesOf(o.stdout, r)); d != "" {
			t.Errorf("rank %d (-want +got):\n%s", r, d)
		}
	}
}

func TestSignalsOfOtherHostsAreAtTheirDefaults(t *testing.T) {
	o, err := runJob(t, onHosts(t, statusLines("SigI*|SigB*", 0), "localhost,b"))
	if err != nil || o.ExitCode != 0 {
		t.Fatalf("%v, %+v", err, o)
	}
	if d := cmp.Diff(linesOf(o.stdout, 0), linesOf(o.stdout, 1)); d != "" || len(linesOf(o.stdout, 0)) != 2 {
		t.Errorf("(-rank of this host +rank of another):\n%s", d)
	}
}

func TestRanksOfHostsExchange(t *testing.T) {
	for _, tls := range []bool{false, true} {
		t.Run(fmt.Sprintf("TLS %v", tls), func(t *testing.T) {
			cfg := onHosts(t, role("exchange", 0, "job"), "a:2,localhost:1,b:2")
			cfg.TLS = tls
			o, err := runJob(t, cfg)
			if err != nil || o.ExitCode != 0 {
				t.Fatalf("%v, %+v", err, o)
			}
			want := `["job of rank 0" "job of rank 1" "job of rank 2" "job of rank 3" "job of rank 4"] <nil>`
			for r := range 5 {
				if d := cmp.Diff([]string{want}, linesOf(o.stdout, r)); d != "" {
					t.Errorf("rank %d (-want +got):\n%s", r, d)
				}
			}
		})
	}
}

func TestHostsInputAndOutput(t *testing.T) {
	file := filepath.Join(t.TempDir(), "in")
	text := strings.Repeat("0123456789abcde\n", 40_000) // more than ten windows
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	in, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	cfg := onHosts(t, shell(0, `cat; echo end of $GASPI_RANK >&2`), "a:1,b:1")
	cfg.Stdin = in
	o, err := runJob(t, cfg)
	if err != nil || o.ExitCode != 0 {
		t.Fatalf("%v, %+v", err, o.Result)
	}
	if got := strings.Join(linesOf(o.stdout, 0), "\n") + "\n"; got != text {
		t.Errorf("rank 0 has passed on %d bytes of %d", len(got), len(text))
	}
	var ends []string
	for line := range strings.Lines(o.stderr) {
		ends = append(ends, line)
	}
	slices.Sort(ends)
	if d := cmp.Diff([]string{"[0] end of 0\n", "[1] end of 1\n"}, ends); d != "" || len(linesOf(o.stdout, 1)) > 0 {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestMissingHostsAreNamed has three agents connect, one by one, before the user is told.
func TestMissingHostsAreNamed(t *testing.T) {
	var told string
	j := &job{cfg: Config{Notice: func(s string) { told += s + "\n" }}}
	for _, name := range []string{"a", "b", "c"} {
		j.sites = append(j.sites, agent.NewSite(agent.Launcher{Report: func(any) {}}, hosts.Place{Name: name}, nil))
	}
	for _, s := range j.sites {
		j.remind("10 s")
		here, there := net.Pipe()
		there.Close()
		s.(*agent.Site).Attach(here)
		defer s.Close()
	}
	j.remind("70 s")
	want := "waiting for hosts a, b, c (3 of 3 are missing) for 10 s\nwaiting for hosts b, c (2 of 3 are missing) for 10 s\nwaiting for host c (1 of 3 is missing) for 10 s\n"
	if d := cmp.Diff(want, told); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if c := testenv.Complaints(told); c != "" {
		t.Errorf("tests take %q for a complaint", c)
	}
}

func TestHostsThatCannotBeHad(t *testing.T) {
	cases := []struct {
		name, list string
		change     func(*Config)
		want       string
	}{
		{"unknown", "localhost,unknown", nil, "host unknown: ssh: Could not resolve hostname unknown: Name or service not known; correct the name in --hosts"},
		{"no agent", "a", func(c *Config) { c.Remote.Agent = []string{"/nowhere/gaspi-run", "agent"} },
			"host a: gaspi-run cannot be started there (sh: 1: /nowhere/gaspi-run: not found): install it at the same path, or use --stage"},
		{"ends at once", "a", func(c *Config) { c.Remote.Agent = []string{"true"} }, "ended before the agent had connected"},
		{"no ssh", "a", func(c *Config) { c.Remote.SSH = []string{"/nowhere/ssh"} }, "host a: fork/exec /nowhere/ssh: no such file or directory"},
		{"silent", "silent,a", func(c *Config) { c.Remote.Patience = 300 * time.Millisecond }, "host silent: no agent has connected within 300 ms to 127.0.0.1:"},
		{"silent alone", "silent", func(c *Config) { c.Remote.Patience = 300 * time.Millisecond }, "waiting for host silent (1 of 1 is missing)"},
		{"deaf", "deaf", func(c *Config) { c.Remote.Patience = 300 * time.Millisecond }, "host deaf: no agent has connected"},
		{"too many ranks", "a:2,b", func(c *Config) { c.Ranks = 4 }, "4 ranks do not fit into the 3 slots of 2 hosts"},
		{"interface", "a", func(c *Config) { c.Interface = "nope0" }, "listen for other hosts: "},
		{"option", "a", func(c *Config) { c.Hosts = []Host{{Name: "-oProxyCommand=x", Slots: 1}} }, "the character '-'"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			cfg := onHosts(t, role("wait", 0), c.list)
			if c.change != nil {
				c.change(&cfg)
			}
			o, err := runJob(t, cfg)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want an error with %q; %+v", err, c.want, o)
			}
		})
	}
}
