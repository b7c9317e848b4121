package system

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/internal/testenv"
	"github.com/gaspi-go/gaspi-go/internal/testenv/cluster"
)

// ring is what quickstart prints as n ranks, in order of rank.
func ring(n int, labelled bool) []string {
	var want []string
	for r := range n {
		text := fmt.Sprintf("rank %d of %d got %d", r, n, 100+(r+n-1)%n)
		if labelled {
			text = fmt.Sprintf("[%d] %s", r, text)
		}
		want = append(want, text)
	}
	return want
}

// checkRing compares the output of quickstart with what it should be.
func checkRing(t *testing.T, n int, labelled bool, got string) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(got), "\n")
	slices.Sort(lines)
	if d := cmp.Diff(ring(n, labelled), lines); d != "" {
		t.Errorf("output (-want +got):\n%s", d)
	}
}

// TestQuickstartBySSH runs the first program of the README across hosts.
func TestQuickstartBySSH(t *testing.T) {
	t.Parallel()
	s := newSite(t, 4, "quickstart")
	ssh, run, quickstart := s.SSH(), s.program("gaspi-run"), s.program("quickstart")
	hostfile := filepath.Join(s.Dir(), "hostfile")
	if err := os.WriteFile(hostfile, []byte("# two hosts\nh2 slots=2\nh3:1\nh2\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		from  int // index of the host where gaspi-run is; 0 is the head
		ranks int
		flags []string
	}{
		{"from outside", 0, 8, []string{"--hosts", s.List(2)}},
		{"from one of the hosts", 1, 8, []string{"--hosts", s.List(2)}},
		{"fewer ranks than slots", 0, 3, []string{"--hosts", s.List(2), "-n", "3"}},
		{"file of hosts", 0, 4, []string{"--hostfile", hostfile}},
		{"one remote host", 0, 2, []string{"--hosts", "h3:2"}},
		{"TLS", 0, 4, []string{"--hosts", "h1:2,h2:2", "--tls"}},
		{"TCP alone", 0, 4, []string{"--hosts", "h1:2,h2:2", "--transport", "tcp"}},
		{"IPv4 by network", 0, 4, []string{"--hosts", "h1:2,h2:2", "--interface", "10.88.0.0/24"}},
		{"IPv6 by network", 0, 4, []string{"--hosts", "h1:2,h2:2", "--interface", "fd88::/64"}},
		{"by name of the interface", 0, 4, []string{"--hosts", "h1:2,h2:2", "--interface", "eth0"}},
		{"all but some interfaces", 0, 4, []string{"--hosts", "h1:2,h2:2", "--interface", "^lo,docker0"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			from := s.Head()
			if c.from > 0 {
				from = s.Hosts()[c.from-1]
			}
			args := append(append(c.flags, "--ssh", ssh), quickstart)
			checkRing(t, c.ranks, true, succeeds(t, from, nil, run, args...))
			s.clean(t)
		})
	}
}

// TestStage starts a job whose programs are on the head alone.
func TestStage(t *testing.T) {
	t.Parallel()
	s := newSite(t, 2, "quickstart")
	succeeds(t, s.Head(), nil, "mkdir", "/run/only")
	succeeds(t, s.Head(), nil, "mv", s.program("gaspi-run"), s.program("quickstart"), "/run/only")
	args := []string{"--hosts", s.List(2), "--ssh", s.SSH(), "/run/only/quickstart"}

	j := start(t, s.Head(), nil, "/run/only/gaspi-run", args...)
	if code := j.wait(); code == 0 || !strings.Contains(j.stderr.String(), "--stage") {
		t.Errorf("without --stage: exit code %d, want a hint\n%v", code, j)
	}
	s.clean(t)
	args = append([]string{"--stage"}, args...)
	checkRing(t, 4, true, succeeds(t, s.Head(), nil, "/run/only/gaspi-run", args...))
	s.clean(t)
}

// TestRanksBySSH looks at what a rank on another host gets: arguments, folder,
// environment, and standard input at rank 0.
func TestRanksBySSH(t *testing.T) {
	t.Parallel()
	s := newSite(t, 2)
	script := `read line; echo "$GASPI_RANK of $GASPI_SIZE on $(hostname), $GASPI_LOCAL_RANK of $GASPI_LOCAL_SIZE, host $GASPI_HOST, in $PWD: $# $1 <$2> $OWN $line"`
	j := start(t, s.Head(), nil, "sh", "-c",
		`echo typed | "$0" --hosts h1:2,h2:1 --ssh "$1" --env OWN="a  b" sh -c "$2" sh "x  y" ""; exit $?`,
		s.program("gaspi-run"), s.SSH(), script)
	code := j.wait()
	lines := slices.Sorted(strings.Lines(j.stdout.String()))
	want := []string{
		"[0] 0 of 3 on h1, 0 of 2, host 0, in " + s.Dir() + ": 2 x  y <> a  b typed\n",
		"[1] 1 of 3 on h1, 1 of 2, host 0, in " + s.Dir() + ": 2 x  y <> a  b \n",
		"[2] 2 of 3 on h2, 0 of 1, host 1, in " + s.Dir() + ": 2 x  y <> a  b \n",
	}
	if d := cmp.Diff(want, lines); d != "" || code != 0 {
		t.Errorf("exit code %d, output (-want +got):\n%s\n%v", code, d, j)
	}
	s.clean(t)
}

// TestRanksThatFailAtOnce ends jobs before all hosts have started their ranks.
func TestRanksThatFailAtOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t, 2)
	for _, from := range []*cluster.Host{s.Head(), s.Hosts()[0], s.Hosts()[1]} {
		t.Run("from "+from.Name, func(t *testing.T) {
			j := start(t, from, nil, s.program("gaspi-run"), "--hosts", s.List(4), "--ssh", s.SSH(), "sh", "-c", "exit 3")
			if code := j.wait(); code != 3 || j.stderr.sentences(`^gaspi-run: rank \d .*exited with status 3`) != 1 {
				t.Errorf("exit code %d, want 3 and a sentence\n%v", code, j)
			}
			s.clean(t)
		})
	}
}

// TestJobsThatCannotStartBySSH are told in one sentence that names the host.
func TestJobsThatCannotStartBySSH(t *testing.T) {
	t.Parallel()
	s := newSite(t, 2, "quickstart")
	ssh, run, quickstart := s.SSH(), s.program("gaspi-run"), s.program("quickstart")
	succeeds(t, s.Head(), nil, "cp", quickstart, "/run/here")
	if err := os.WriteFile(filepath.Join(s.Dir(), "script"), []byte("#!/run/here\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"program on this host alone", []string{"--hosts", "h1:3,h2:3", "/run/here"}, 127, "h[12].*--stage"},
		{"interpreter on this host alone", []string{"--hosts", "h1:3,h2:3", s.Dir() + "/script"}, 126, `h[12].*interpreter "/run/here", which is not there`},
		{"unknown host", []string{"--hosts", "h1:1,nowhere:1", quickstart}, 1, "nowhere"},
		{"no key", []string{"--hosts", "h1:1,h2:1", "--ssh", ssh + " -o PubkeyAuthentication=no", quickstart}, 1, "h1|h2"},
		{"program missing", []string{"--hosts", "h1:1,h2:1", s.Dir() + "/nothing"}, 127, "nothing"},
		{"too many ranks", []string{"--hosts", "h1:1,h2:1", "-n", "3", quickstart}, 2, "2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := start(t, s.Head(), nil, run, append([]string{"--ssh", ssh}, c.args...)...)
			code := j.wait()
			if code != c.code || j.stderr.sentences(`^gaspi-run: .*(`+c.want+`)`) != 1 {
				t.Errorf("exit code %d, want %d and one sentence with %q\n%v", code, c.code, c.want, j)
			}
			s.clean(t)
		})
	}
}

// TestFactorizationBySSH runs the large example across 4 hosts with 2 ranks each.
func TestFactorizationBySSH(t *testing.T) {
	t.Parallel()
	s := newSite(t, 4, "mfsgd")
	ratings, err := os.ReadFile("../../examples/mfsgd/testdata/ratings.csv")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.Dir(), "ratings.csv"), ratings, 0o644); err != nil {
		t.Fatal(err)
	}
	out := succeeds(t, s.Head(), nil, s.program("gaspi-run"), "--hosts", s.List(2), "--ssh", s.SSH(),
		s.program("mfsgd"), "--ratings", "ratings.csv", "--rank", "4", "--slack", "0,2", "--iterations", "20", "--json", "run.json")
	for line := range strings.Lines(out) {
		if !strings.HasPrefix(line, "[0] ") {
			t.Errorf("another rank than 0 prints: %s", line)
		}
	}
	if text, err := os.ReadFile(filepath.Join(s.Dir(), "run.json")); err != nil || !strings.Contains(string(text), "8") {
		t.Errorf("%v: what was saved does not say 8 ranks: %s", err, text)
	}
	s.clean(t)
}

// TestCollectivesBySSH runs samples of the matrix of collectives across hosts.
func TestCollectivesBySSH(t *testing.T) {
	t.Parallel()
	s := newSite(t, 4)
	matrix := filepath.Join(s.Dir(), "collectives.test")
	if out, err := exec.CommandContext(t.Context(), "go", "test", "-c", "-o", matrix, module+"collectives").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, hosts := range []string{"h1:2,h2:2,h3:2,h4:2", "h1:1,h2:1,h3:1", "h1:3,h2:2"} {
		t.Run(hosts, func(t *testing.T) {
			seed := newSeed(t)
			succeeds(t, s.Head(), nil, s.program("gaspi-run"), "--hosts", hosts, "--ssh", s.SSH(),
				"--env", testenv.AsRole("sample", fmt.Sprint(seed)), matrix)
			s.clean(t)
		})
	}
}
