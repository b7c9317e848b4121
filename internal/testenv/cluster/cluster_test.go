package cluster

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/internal/sys/process"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

// within bounds what a test waits for; it is a limit, not an expectation.
func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

// must runs a command on a host, which has to succeed.
func must(t *testing.T, h *Host, name string, args ...string) string {
	t.Helper()
	out, err := h.Exec(within(t, time.Minute), name, args...)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return out
}

// envVictim makes TestNothingOutlivesTheTest the process that is killed.
const envVictim = "CLUSTER_TEST_VICTIM"

func TestMain(m *testing.M) { testenv.Main(m, map[string]testenv.Role{"greets": greet}) }

// greet connects to an sshd and waits for its first words. Its arguments are the address, and
// how long a connection may take.
func greet(_ context.Context, args []string) error {
	limit, err := time.ParseDuration(args[1])
	if err != nil {
		return err
	}
	conn, err := net.DialTimeout("tcp", args[0], limit)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		return err
	}
	_, err = io.ReadFull(conn, make([]byte, 8))
	return err
}

// reaches has a host connect to the sshd at an address, within the limit.
func reaches(t *testing.T, c *Cluster, from *Host, to netip.Addr, limit time.Duration) error {
	cmd := from.Command(within(t, time.Minute), c.file("self.test"))
	cmd.Env = append(cmd.Env, testenv.AsRole("greets", netip.AddrPortFrom(to, 22).String(), limit.String()))
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// newCluster is New for tests that take minutes together.
func newCluster(t *testing.T, hosts int) *Cluster {
	t.Helper()
	testenv.NeedStep(t, "GASPI_TEST_CLUSTER", "cluster")
	return New(t, hosts)
}

func TestHostsAreSeparate(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2)
	h1, h2 := c.Hosts()[0], c.Hosts()[1]
	for _, h := range c.all() {
		if got := must(t, h, "hostname"); got != h.Name+"\n" {
			t.Errorf("host %s calls itself %q", h.Name, got)
		}
	}
	must(t, h1, "touch", "/tmp/x", "/dev/shm/y", c.Dir()+"/shared")
	must(t, h2, "test", "-e", c.Dir()+"/shared")
	for _, private := range []string{"/tmp/x", "/dev/shm/y"} {
		if _, err := h2.Exec(t.Context(), "test", "-e", private); err == nil {
			t.Errorf("%s of h1 is on h2", private)
		}
	}
	files, err := h1.Files()
	if got := strings.Join(files, " "); err != nil || got != "/tmp/x /dev/shm/y" {
		t.Errorf("files of h1: %s, %v", got, err)
	}
	must(t, h1, "rm", "/tmp/x", "/dev/shm/y")
	if err := c.Clean(within(t, time.Minute)); err != nil {
		t.Error(err)
	}
}

func TestSSH(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2)
	ssh := strings.Fields(c.SSH())
	from := c.Hosts()[0]
	for _, to := range c.all() {
		for _, name := range []string{to.Name, to.IPv4.String(), to.IPv6.String()} {
			if got := must(t, from, ssh[0], append(ssh[1:], name, "hostname")...); got != to.Name+"\n" {
				t.Errorf("ssh to %s: %q", name, got)
			}
			if got := must(t, from, ssh[0], append(ssh[1:], name, "printenv HOME")...); got != home+"\n" {
				t.Errorf("home of a session on %s is %q, want %s: start-up files of the user who tests have no place there", name, got, home)
			}
		}
	}
	if err := c.Clean(within(t, time.Minute)); err != nil {
		t.Error(err)
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3)
	c.SSH()
	c.Self(t)
	h := c.Hosts()
	type link struct{ from, to int } // hosts by index; 0 is the head
	cases := []struct {
		name       string
		begin, end func()
		lost, kept []link
	}{
		{"cut", func() { c.Cut(h[0]) }, func() { c.Heal(h[0]) }, []link{{0, 1}, {2, 1}, {1, 3}}, []link{{2, 3}, {0, 2}}},
		{"partition", func() { c.Partition(h[0], h[1]) }, func() { c.Join(h[1], h[0]) }, []link{{1, 2}, {2, 1}}, []link{{1, 3}, {2, 3}, {0, 1}}},
	}
	for _, k := range cases {
		t.Run(k.name, func(t *testing.T) {
			check := func(links []link, want bool) {
				t.Helper()
				limit := time.Second
				if want {
					limit = 20 * time.Second // neighbours are looked for again after some seconds
				}
				var all sync.WaitGroup
				defer all.Wait()
				for _, l := range links {
					from, to := c.all()[l.from], c.all()[l.to]
					for _, ip := range []netip.Addr{to.IPv4, to.IPv6} {
						all.Go(func() {
							if err := reaches(t, c, from, ip, limit); (err == nil) != want {
								t.Errorf("%s to %s: %v, want success: %v", from.Name, ip, err, want)
							}
						})
					}
				}
			}
			check(k.lost, true)
			k.begin()
			check(k.lost, false)
			check(k.kept, true)
			k.end()
			check(k.lost, true)
		})
	}
}

func TestSlurm(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 4)
	c.StartSlurm()
	got := must(t, c.Head(), "srun", "--quiet", "-N4", "-n8", "--label", "sh", "-c", "echo $SLURM_PROCID of $SLURM_NTASKS on $(hostname)")
	lines := strings.Split(strings.TrimSpace(got), "\n")
	slices.Sort(lines)
	want := []string{
		"0: 0 of 8 on h1", "1: 1 of 8 on h1", "2: 2 of 8 on h1", "3: 3 of 8 on h1",
		"4: 4 of 8 on h2", "5: 5 of 8 on h2", "6: 6 of 8 on h3", "7: 7 of 8 on h4",
	}
	if d := cmp.Diff(want, lines); d != "" {
		t.Errorf("srun (-want +got):\n%s", d)
	}
	if err := c.Clean(within(t, time.Minute)); err != nil {
		t.Error(err)
	}
}

func TestSignal(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 1)
	h := c.Hosts()[0]
	cmd := h.Command(within(t, time.Minute), "sh", "-c", `trap 'echo told; exit 3' INT; sleep 100 & echo begun; wait`)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	if !lines.Scan() || lines.Text() != "begun" {
		t.Fatalf("%q", lines.Text())
	}
	if err := Signal(cmd, syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if !lines.Scan() || lines.Text() != "told" {
		t.Errorf("%q, want what the handler prints", lines.Text())
	}
	cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 3 {
		t.Errorf("exit code %d, want 3", code)
	}
	// A process that it has left behind is found.
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := c.Clean(ctx); err == nil || !strings.Contains(err.Error(), "sleep 100") {
		t.Errorf("%v, want an error that names what runs on", err)
	}
	left, err := h.Processes()
	if err != nil || len(left) != 1 {
		t.Fatalf("%+v, %v", left, err)
	}
	if err := syscall.Kill(left[0].PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := c.Clean(within(t, time.Minute)); err != nil {
		t.Error(err)
	}
}

// TestNothingOutlivesTheTest kills a test program that has a cluster.
func TestNothingOutlivesTheTest(t *testing.T) {
	if os.Getenv(envVictim) != "" {
		c := newCluster(t, 2)
		c.SSH()
		fmt.Printf("up %s %d\n", c.Dir(), c.Head().init.Process.Pid)
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {} // the signal is on its way
	}
	newCluster(t, 1) // a machine that lacks something skips here: the child would skip in vain
	cmd := exec.CommandContext(within(t, time.Minute), os.Args[0], "-test.run=^TestNothingOutlivesTheTest$", "-test.v")
	cmd.Env = append(os.Environ(), envVictim+"=1")
	out, err := cmd.CombinedOutput()
	var dir string
	var pid int
	_, rest, found := strings.Cut(string(out), "up ")
	if _, scanErr := fmt.Sscan(rest, &dir, &pid); !found || scanErr != nil || cmd.ProcessState.Success() {
		t.Fatalf("%v %v\n%s", err, scanErr, out)
	}
	if hold, err := process.Hold(pid); err == nil { // or it has ended already
		defer syscall.Close(hold)
		if !process.AwaitEnd(hold, time.Minute) {
			t.Fatalf("process %d, the first of the head, still runs", pid)
		}
	} else if !errors.Is(err, syscall.ESRCH) {
		t.Fatal(err)
	}
	newCluster(t, 1)
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("%s is still there after the next cluster: %v", dir, err)
	}
}

// TestCutOneWay sends datagrams between two hosts, one of which does not reach the other.
func TestCutOneWay(t *testing.T) {
	c := newCluster(t, 2)
	a, b := c.Hosts()[0], c.Hosts()[1]
	inboxes := map[*Host]*net.UDPConn{}
	for _, h := range []*Host{a, b} {
		if err := h.Within(func() (err error) {
			inboxes[h], err = net.ListenUDP("udp4", &net.UDPAddr{IP: h.IPv4.AsSlice(), Port: 7001})
			return err
		}); err != nil {
			t.Fatal(err)
		}
		defer inboxes[h].Close()
	}
	// arrives sends datagrams until one is there.
	arrives := func(step int, from, to *Host, limit time.Duration) bool {
		text := make([]byte, 16)
		hello := fmt.Sprint(step, from.Name) // others may come late
		for end := time.Now().Add(limit); time.Now().Before(end); {
			if _, err := inboxes[from].WriteTo([]byte(hello), &net.UDPAddr{IP: to.IPv4.AsSlice(), Port: 7001}); err != nil {
				t.Fatal(err)
			}
			_ = inboxes[to].SetReadDeadline(time.Now().Add(100 * time.Millisecond))
			if n, _, err := inboxes[to].ReadFrom(text); err == nil && string(text[:n]) == hello {
				return true
			}
		}
		return false
	}
	for i, step := range []struct {
		do             func()
		forth, andBack bool
	}{{func() {}, true, true}, {func() { c.CutOneWay(a, b) }, false, true}, {func() { c.Join(b, a) }, true, true}} {
		step.do()
		limit := map[bool]time.Duration{true: 20 * time.Second, false: time.Second}
		if forth, back := arrives(i, a, b, limit[step.forth]), arrives(i, b, a, limit[step.andBack]); forth != step.forth || back != step.andBack {
			t.Errorf("datagrams arrive there: %v, back: %v; want %v and %v", forth, back, step.forth, step.andBack)
		}
	}
}
