package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

// A job of nodes, all of them on this machine.
type nodeJob struct {
	t     *testing.T
	flags []string // of all nodes
}

func newNodeJob(t *testing.T, nodes int) *nodeJob {
	t.Helper()
	at := testenv.FreeAddress(t)
	return &nodeJob{t, []string{"--nnodes", fmt.Sprint(nodes), "--rendezvous", at, "--key-file", writeKey(t, '1'), "--interface", "127.0.0.1"}}
}

// writeKey makes a file with a key of one digit.
func writeKey(t *testing.T, digit rune) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "job.key")
	writeFile(t, path, strings.Repeat(string(digit), 64)+"\n", 0o600)
	return path
}

// node starts node number n. Of a flag that is given twice, the last one counts.
func (j *nodeJob) node(n int, args ...string) *launch {
	j.t.Helper()
	return start(j.t, append(append(slices.Clone(j.flags), "--node-rank", fmt.Sprint(n)), args...)...)
}

// all starts one rank on each node.
func (j *nodeJob) all(nodes int, args ...string) []*launch {
	j.t.Helper()
	var all []*launch
	for n := nodes - 1; n >= 0; n-- { // node 0 need not be first
		all = append(all, j.node(n, append([]string{"-n", "1"}, args...)...))
	}
	slices.Reverse(all)
	return all
}

// joined waits until a node that says what it does has let another one in.
func (l *launch) joined(node int) {
	l.t.Helper()
	testenv.EventuallySucceeds(l.t, func() error {
		if text := l.stderr.String(); !strings.Contains(text, fmt.Sprintf("%s has joined", nodeHere(l.t, node))) {
			return fmt.Errorf("node %d has not joined: %s", node, text)
		}
		return nil
	})
}

// nodeHere names a node of this machine.
func nodeHere(t *testing.T, node int) string {
	t.Helper()
	name, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("node %d (%s)", node, name)
}

func TestNodesAreOneJob(t *testing.T) {
	t.Setenv("GASPI_KEY", strings.Repeat("2", 64))
	j := newNodeJob(t, 3)
	ranks := []int{2, 3, 1}
	var nodes []*launch
	for n, count := range ranks {
		nodes = append(nodes, j.node(n, "-n", fmt.Sprint(count), "--env", fmt.Sprintf("NODE=%d", n), "sh", "-c",
			`echo $GASPI_RANK of $GASPI_SIZE, $GASPI_LOCAL_RANK of $GASPI_LOCAL_SIZE, host $GASPI_HOST, node $NODE, key ${GASPI_KEY-none}`))
	}
	first := 0
	for n, l := range nodes {
		var got, want []string
		for i := range ranks[n] {
			want = append(want, fmt.Sprintf("[%d] %d of 6, %d of %d, host %d, node %d, key none", first+i, first+i, i, ranks[n], n, n))
			got = append(got, l.line())
		}
		first += ranks[n]
		slices.Sort(got)
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("node %d (-want +got):\n%s", n, d)
		}
		if code := l.wait(); code != 0 || l.complaints() != "" {
			t.Errorf("node %d: exit code %d, stderr %q", n, code, l.stderr)
		}
	}
}

func TestNodesWithBarriers(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, flags := range map[string][]string{
		"plain": nil, "encrypted, without a heartbeat": {"--tls", "--heartbeat", "0"}, "all addresses": {"--interface", "^lo"},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "all addresses" {
				needInterface(t)
			}
			for n, l := range newNodeJob(t, 2).all(2, append(flags, "-n", "2", "--env", testenv.AsRole("barriers", "at once"), self)...) {
				if code := l.wait(); code != 0 {
					t.Errorf("node %d: exit code %d, stderr %q", n, code, l.stderr)
				}
			}
		})
	}
}

// needInterface skips the test where this host has addresses of loopback alone.
func needInterface(t *testing.T) {
	t.Helper()
	all, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	other := func(a net.Addr) bool {
		ip, ok := a.(*net.IPNet)
		return ok && !ip.IP.IsLoopback() && !ip.IP.IsLinkLocalUnicast()
	}
	if !slices.ContainsFunc(all, other) {
		testenv.Lack(t, "this host has no address but those of loopback")
	}
}

func TestNodesEndTogether(t *testing.T) {
	t.Parallel()
	rank := `echo ready; trap '' HUP; read x; ` + idle
	cases := []struct {
		name     string
		do       func(nodes []*launch)
		script   string
		args     []string
		code     int // of all nodes but the one that was killed
		sentence string
		killed   int // node, or -1
	}{
		{name: "a rank exits", script: `trap 'exit 7' USR1; echo ready; ` + idle, code: 7, sentence: "rank 2 (pid ", killed: -1,
			do: func(n []*launch) { n[2].signal(syscall.SIGUSR1) }},
		{name: "a rank is killed", script: `trap 'kill -9 $$' USR1; echo ready; ` + idle, code: 137, sentence: "rank 1 (pid ", killed: -1,
			do: func(n []*launch) { n[1].signal(syscall.SIGUSR1) }},
		{name: "timeout", script: rank, args: []string{"--timeout", "1s"}, code: 124, sentence: "timed out after 1s", killed: -1},
		{name: "SIGTERM at node 2", script: rank, code: 143, killed: -1, sentence: "interrupted by SIGTERM at NODE2",
			do: func(n []*launch) { n[2].signal(syscall.SIGTERM) }},
		{name: "SIGINT at node 0", script: rank, code: 130, killed: -1, sentence: "interrupted by SIGINT after",
			do: func(n []*launch) { n[0].signal(syscall.SIGINT) }},
		{name: "node 1 is killed", script: rank, code: 1, killed: 1, sentence: "NODE1 is lost: the connection to its gaspi-run has ended",
			do: func(n []*launch) { n[1].signal(syscall.SIGKILL) }},
		{name: "node 0 is killed", script: rank, code: 1, killed: 0, sentence: "node 0 is lost: the connection to its gaspi-run has ended",
			do: func(n []*launch) { n[0].signal(syscall.SIGKILL) }},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			nodes := newNodeJob(t, 3).all(3, append(c.args, "sh", "-c", c.script)...)
			for _, l := range nodes {
				l.line()
			}
			if c.do != nil {
				c.do(nodes)
			}
			sentence := strings.NewReplacer("NODE1", nodeHere(t, 1), "NODE2", nodeHere(t, 2)).Replace(c.sentence)
			for n, l := range nodes {
				code := l.wait()
				if n == c.killed {
					continue
				}
				// A shell may say something about its children.
				if text := l.complaints(); code != c.code || !strings.Contains(text, "gaspi-run: "+sentence) || strings.Count(text, "gaspi-run: ") != 1 {
					t.Errorf("node %d: exit code %d, stderr %q; want %d, %q", n, code, text, c.code, sentence)
				}
			}
		})
	}
}

func TestImpatientNode(t *testing.T) {
	nodes := newNodeJob(t, 2).all(2, "--kill-grace", "1h", "sh", "-c", `trap 'echo no' INT; trap '' TERM; echo ready; `+idle)
	for _, l := range nodes {
		l.line()
	}
	nodes[1].signal(syscall.SIGINT)
	for _, l := range nodes {
		l.line() // the ranks of both nodes have got it
	}
	nodes[1].signal(syscall.SIGINT)
	if code, text := nodes[1].wait(), nodes[1].stderr.String(); code != 130 {
		t.Errorf("node 1: exit code %d, stderr %q; want 130", code, text)
	}
	nodes[0].signal(syscall.SIGINT) // its rank does not end by itself
	if code, text := nodes[0].wait(), nodes[0].complaints(); code != 130 || !strings.HasPrefix(text, "gaspi-run: interrupted by SIGINT at "+nodeHere(t, 1)) {
		t.Errorf("node 0: exit code %d, stderr %q; want 130", code, text)
	}
}

func TestNodesThatDoNotJoin(t *testing.T) {
	t.Parallel()
	j := newNodeJob(t, 3)
	at := j.flags[3]
	zero := j.node(0, "-v", "-n", "1", "true")
	one := j.node(1, "-n", "1", "true")
	zero.joined(1)
	for _, c := range []struct {
		name string
		args []string
		node int
		code int
		says string // on its standard error
	}{
		{"the same rank", nil, 1, 1, "node 1 has joined already, from 127.0.0.1:"},
		{"another number of nodes", []string{"--nnodes", "4"}, 2, 1, nodeHere(t, 2) + " was started with --nnodes 4 and node 0 with --nnodes 3: start all with the same"},
		{"a node too many", []string{"--nnodes", "4"}, 3, 1, "node 0 was started with --nnodes 3, so there is no node 3"},
		{"another transport", []string{"--transport", "tcp"}, 2, 1, nodeHere(t, 2) + ` was started with --transport "tcp" and node 0 with "": start all with the same`},
		{"encrypted", []string{"--tls"}, 2, 1, "one side of the connection uses TLS and the other does not"},
		{"another key", []string{"--key-file", writeKey(t, '3'), "--join-timeout", "1s"}, 2, 1, "no node 0 at " + at + " after 1 s (handshake with " + at + ": the other side has not proven that it belongs to the job: it has another key"},
		{"a second node 0", nil, 0, 1, "node 0 holds the rendezvous of the job, and cannot: listen tcp " + at + ": bind: address already in use"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := start(t, append(append(append(slices.Clone(j.flags), "--node-rank", fmt.Sprint(c.node)), c.args...), "-n", "1", "true")...)
			if code, text := l.wait(), l.stderr.String(); code != c.code || !strings.Contains(text, c.says) {
				t.Errorf("exit code %d, stderr %q; want %d, %q", code, text, c.code, c.says)
			}
		})
	}
	two := j.node(2, "-n", "1", "true")
	for n, l := range []*launch{zero, one, two} {
		if code := l.wait(); code != 0 {
			t.Errorf("node %d: exit code %d, stderr %q", n, code, l.stderr)
		}
	}
}

func TestMissingNodesAreNamed(t *testing.T) {
	t.Parallel()
	j := newNodeJob(t, 5)
	zero := j.node(0, "-v", "--join-timeout", "12s", "-n", "1", "true")
	one, four := j.node(1, "-n", "1", "true"), j.node(4, "-n", "1", "true")
	zero.joined(1)
	zero.joined(4)
	four.signal(syscall.SIGTERM)
	if code := four.wait(); code != 143 {
		t.Errorf("node 4, which was told to end: exit code %d", code)
	}
	for n, l := range []*launch{zero, one} {
		code, text := l.wait(), l.stderr.String()
		for _, want := range []string{
			nodeHere(t, 4) + " has left before the start; waiting for nodes 2-4 (3 of 5 are missing)\n",
			"gaspi-run: waiting for nodes 2-4 (3 of 5 are missing) for 1",
			"gaspi-run: nodes 2-4 have not joined within 12 s (3 of 5 are missing)",
		} {
			if code != 1 || !strings.Contains(text, want) {
				t.Errorf("node %d: exit code %d, stderr %q; want 1, %q", n, code, text, want)
			}
		}
		if strings.Contains(l.complaints(), "are missing) for 1") {
			t.Errorf("node %d: tests take the reminder for a complaint: %q", n, l.complaints())
		}
	}
}

// TestRendezvousElsewhere gives node 0 a rendezvous that does not lead to its host.
func TestRendezvousElsewhere(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]string{
		"240.0.0.1":            "240.0.0.1 is no address of this host; ",
		"no-such-host.invalid": "the name no-such-host.invalid does not resolve here",
	} {
		j := newNodeJob(t, 2)
		_, port, _ := strings.Cut(j.flags[3], ":")
		zero := j.node(0, "--rendezvous", host+":"+port, "--join-timeout", "500ms", "-n", "1", "true")
		head := "gaspi-run: node 1 has not joined within 500 ms (1 of 2 is missing): no node has found the way to node 0: " + want
		tail := "; --rendezvous expects, on all nodes, HOST:PORT with a name or an address of the host of node 0, such as 127.0.0.1:" + port + "\n"
		if code, text := zero.wait(), zero.complaints(); code != 1 || !strings.Contains(text, head) || !strings.HasSuffix(text, tail) {
			t.Errorf("%s: exit code %d, stderr %q; want 1, %q ... %q", host, code, text, head, tail)
		}
	}
}

func TestNodeWithoutItsProgram(t *testing.T) {
	j := newNodeJob(t, 2)
	zero := j.node(0, "-v", "-n", "1", "true")
	testenv.EventuallySucceeds(t, func() error { // it listens
		conn, err := net.Dial("tcp", j.flags[3])
		if err == nil {
			conn.Close()
		}
		return err
	})
	one := j.node(1, "-n", "1", "./nowhere")
	for n, l := range []*launch{zero, one} {
		if code, text := l.wait(), l.stderr.String(); code != exitNotFound || !strings.Contains(text, "./nowhere: no such program: there is no such file or directory\n") {
			t.Errorf("node %d: exit code %d, stderr %q; want %d", n, code, text, exitNotFound)
		}
	}
}

// Goal: a node that cannot take part ends all others at once, by its reason.
// Method: three nodes that wait for each other for ever, of which the one that comes last has flags that make no sense, or
// no place for its output.
func TestNodeThatCannotTakePart(t *testing.T) {
	for name, c := range map[string]struct {
		args []string // of node 1
		code int
		says string
	}{
		"flags":            {[]string{"--bogus", "true"}, exitUsage, "unknown flag: --bogus"},
		"output directory": {[]string{"-n", "1", "--output", "dir:/dev/null/x", "true"}, exitFailed, `output directory "/dev/null/x": "/dev/null" is there and no directory; expected a directory, or the name of a new one in a directory that this user may write to`},
	} {
		t.Run(name, func(t *testing.T) {
			j := newNodeJob(t, 3)
			zero := j.node(0, "-v", "--join-timeout", "0", "-n", "1", "true")
			two := j.node(2, "--join-timeout", "0", "-n", "1", "true")
			zero.joined(2)
			if l := j.node(1, c.args...); l.wait() != c.code || !strings.HasPrefix(l.complaints(), "gaspi-run: "+c.says) {
				t.Errorf("node 1: stderr %q, want exit code %d, %q", l.complaints(), c.code, c.says)
			}
			for n, l := range map[int]*launch{0: zero, 2: two} {
				if code, text := l.wait(), l.stderr.String(); code != exitFailed || !strings.Contains(text, nodeHere(t, 1)+": "+c.says+"\n") {
					t.Errorf("node %d: exit code %d, stderr %q", n, code, text)
				}
			}
		})
	}
}

// TestFirstNodeThatCannotStart has the other nodes wait for ever for node 0, which says why
// it will not come.
func TestFirstNodeThatCannotStart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	plain, script := filepath.Join(dir, "plain"), filepath.Join(dir, "script")
	writeFile(t, plain, "no program", 0o644)
	writeFile(t, script, "#!/nowhere/sh\n", 0o755)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	_, port, _ := net.SplitHostPort(taken.Addr().String())
	for _, c := range []struct {
		name        string
		args        []string // of node 0
		code, other int      // of node 0, and of the others
		says        string
	}{
		{"no program", []string{"./nowhere"}, exitNotFound, exitNotFound, "./nowhere: no such program: there is no such file or directory"},
		{"not executable", []string{plain}, exitNotExecutable, exitNotExecutable, plain + ": not executable: it is a file with mode -rw-r--r--; chmod +x makes a program of it"},
		{"noticed at the start of the ranks", []string{script}, exitNotExecutable, exitNotExecutable, script + ": not executable: its first line names the interpreter \"/nowhere/sh\", which is not there"},
		{"no package", []string{"./no/such/package"}, exitNotFound, exitNotFound, "./no/such/package: no such program"},
		{"unknown flag", []string{"--bogus", "true"}, exitUsage, exitFailed, "unknown flag: --bogus"},
		{"flag of a bad value", []string{"--kill-grace", "soon", "true"}, exitUsage, exitFailed, `--kill-grace "soon": expected a duration`},
		{"flags that do not fit", []string{"--bind", "socket", "true"}, exitUsage, exitFailed, `--bind "socket": expected core or none`},
		{"flags that do not fit nodes", []string{"--transport", "shm", "true"}, exitUsage, exitFailed, "transport shm connects ranks of one host, and these are on 3 nodes: use auto or tcp"},
		{"hosts beside nodes", []string{"--hosts", "a", "true"}, exitUsage, exitFailed, "--hosts and --nnodes: expected one of them"},
		{"a limit that makes no sense", []string{"--join-timeout", "-5s", "true"}, exitUsage, exitFailed, "--join-timeout -5s: expected more than 0, such as 10m, or 0 for ever"},
		{"no ports", []string{"--ports", "9-5", "true"}, exitUsage, exitFailed, `range of ports "9-5": expected LOW-HIGH`},
		{"ports in use", []string{"--ports", port, "true"}, exitFailed, exitFailed, "listen for other hosts: all ports from " + port + " to " + port + " are in use"},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := newNodeJob(t, 3)
			one := j.node(1, "--join-timeout", "0", "-n", "1", "true")
			zero := j.node(0, append([]string{"-n", "1"}, c.args...)...)
			two := j.node(2, "--join-timeout", "0", "-n", "1", "true")
			if code, text := zero.wait(), zero.stderr.String(); code != c.code || !strings.Contains(text, c.says) {
				t.Errorf("node 0: exit code %d, stderr %q; want %d, %q", code, text, c.code, c.says)
			}
			for n, l := range []*launch{one, two} {
				code, text := l.wait(), l.complaints()
				if code != c.other || !strings.HasPrefix(text, "gaspi-run: "+nodeHere(t, 0)+": "+c.says) || strings.Count(text, "\n") != 1 {
					t.Errorf("node %d: exit code %d, stderr %q; want %d and one line with %q", n+1, code, text, c.other, c.says)
				}
			}
		})
	}
}

// TestFirstNodeDoesNotWaitForEver has node 0 end with its own reason when nobody comes, or
// its user does not want to wait.
func TestFirstNodeDoesNotWaitForEver(t *testing.T) {
	const says = "gaspi-run: ./nowhere: no such program: there is no such file or directory"
	waits := says + "; waiting for node 1 (1 of 2 is missing), to tell that\n"
	l := newNodeJob(t, 2).node(0, "--join-timeout", "100ms", "-n", "1", "./nowhere")
	if code, text := l.wait(), l.complaints(); code != exitNotFound || text != waits+says+"\n" {
		t.Errorf("exit code %d, stderr %q; want %d, %q", code, text, exitNotFound, waits+says)
	}
	l = newNodeJob(t, 2).node(0, "--join-timeout", "0", "-n", "1", "./nowhere")
	testenv.EventuallySucceeds(t, func() error {
		if text := l.complaints(); text != waits {
			return fmt.Errorf("stderr %q, want %q", text, waits)
		}
		return nil
	})
	l.signal(syscall.SIGINT)
	if code, text := l.wait(), l.complaints(); code != exitNotFound || text != waits+says+"\n" {
		t.Errorf("interrupted: exit code %d, stderr %q; want %d", code, text, exitNotFound)
	}
}

func TestNodeRankFromTheEnvironment(t *testing.T) {
	for name, value := range map[string]string{"JOB_COMPLETION_INDEX": "2", "SLURM_NODEID": "2"} {
		t.Setenv(name, value)
		for line, want := range map[string]int{
			"--nnodes 3 --rendezvous a:1 --key-file k p":               2,
			"--nnodes 3 --rendezvous a:1 --key-file k --node_rank 1 p": 1,
			"--nnodes 1 p": 0,
		} {
			o, err := parse(splitLine(line))
			if err != nil || o.config.Node.Number != want {
				t.Errorf("%s=%s, %s: node %d, %v; want %d", name, value, line, o.config.Node.Number, err, want)
			}
		}
		os.Unsetenv(name)
	}
}
