package system

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
	"github.com/gaspi-go/gaspi-go/internal/testenv/cluster"
)

// playPressed is a rank of a job that has to go on whatever is beside it. Its argument is a
// folder: ranks contact each other when its gate "contact" is open, and leave when it has the
// file "leave".
func playPressed(ctx context.Context, p *gaspi.Proc, args []string) error {
	fmt.Println("joined")
	dir := args[0]
	if err := testenv.AwaitGate(ctx, filepath.Join(dir, "contact")); err != nil {
		return err
	}
	for _, r := range p.World().Ranks() {
		if err := p.Ping(ctx, r); err != nil {
			return err
		}
	}
	fmt.Println("contact")
	for steps := 1; ; steps++ {
		over := []int64{0}
		if _, err := os.Stat(filepath.Join(dir, "leave")); err == nil {
			over[0] = 1
		}
		if err := gaspi.AllReduce(ctx, p.World(), over, over, gaspi.Max); err != nil {
			return err
		}
		if over[0] == 1 {
			fmt.Println(steps, "steps")
			return p.Barrier(ctx, p.World())
		}
	}
}

// leave lets ranks under pressure, and the processes beside them, end.
func (s *site) leave(t *testing.T) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(s.Dir(), "leave"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
}

// busyTime is how long processes are busy beside a job.
func busyTime() time.Duration {
	if os.Getenv("GASPI_TEST_LONG") != "" {
		return time.Minute
	}
	return 5 * time.Second
}

// TestBusyProcessesMakeNobodyDead has 200 processes take all cores beside a job on two
// hosts, which talks all the time, over memory and over TCP. Nobody is lost.
func TestBusyProcessesMakeNobodyDead(t *testing.T) {
	s := newSite(t, 2)
	flags := []string{"--hosts", s.List(2), "--ssh", s.SSH()}
	const loops = `for i in $(seq 200); do
		while [ ! -e leave ]; do n=0; while [ $n -lt 10000 ]; do n=$((n+1)); done; done &
	done; echo busy; wait`
	busy := start(t, s.Head(), nil, "sh", "-c", loops)
	if _, err := busy.stdout.await(t.Context(), 1, `^busy$`); err != nil {
		t.Fatalf("%v\n%v", err, busy)
	}
	j := s.play(t, testenv.AsRole("pressed", s.Dir()), flags...)
	if _, err := j.stdout.await(t.Context(), 4, `contact$`); err != nil {
		t.Fatalf("%v\n%v", err, j)
	}
	select {
	case <-time.After(busyTime()): // this is how long nobody may be lost
	case <-j.stdout.over:
	}
	s.leave(t)
	if code := j.wait(); code != 0 || j.stderr.complaints() != "" {
		t.Errorf("exit code %d\n%v", code, j)
	}
	busy.wait()
	t.Logf("beside 200 busy processes for %v: %s", busyTime(), strings.ReplaceAll(strings.TrimSpace(j.stdout.String()), "\n", ", "))
	s.clean(t)
}

// strangers is how many silent connections there are at each port.
const strangers = 3000

// TestSilentConnectionsKeepNobodyOutside has 3,000 connections at the rendezvous that say
// nothing, before other ranks come, and 3,000 at the port of each rank before first contact.
// Those that are closed come again. All ranks join, meet and end well.
func TestSilentConnectionsKeepNobodyOutside(t *testing.T) {
	s := newSite(t, 3)
	h := s.Hosts()
	ranks := h[:2]
	key := s.key(t, "key", "e")
	env := func(r int) []string {
		return []string{
			"GASPI_RENDEZVOUS=h1:7117", "GASPI_SIZE=2", fmt.Sprint("GASPI_RANK=", r), "GASPI_KEY_FILE=" + key, testenv.AsRole("pressed", s.Dir()),
		}
	}
	contact := testenv.NewGate(t, filepath.Join(s.Dir(), "contact"))
	jobs := []*job{start(t, ranks[0], env(0), s.Self(t))}
	if _, err := jobs[0].stderr.await(t.Context(), 1, `waiting for rank 1 `); err != nil { // it listens
		t.Fatalf("%v\n%v", err, jobs[0])
	}
	crowd := &silentCrowd{from: h[2], dials: make(chan struct{}, 32)}
	defer crowd.end()
	crowd.gather(t, net.JoinHostPort(h[0].IPv4.String(), "7117"))
	begin := time.Now()
	jobs = append(jobs, start(t, ranks[1], env(1), s.Self(t)))
	for _, j := range jobs {
		if _, err := j.stdout.await(t.Context(), 1, `joined$`); err != nil {
			t.Fatalf("%v\n%v", err, j)
		}
	}
	t.Logf("rank 1 has joined %v after its start, with %d silent connections at the rendezvous", time.Since(begin).Round(time.Millisecond), strangers)
	for _, host := range ranks {
		for _, port := range listening(t, host) {
			if port != "22" && port != "7117" {
				crowd.gather(t, net.JoinHostPort(host.IPv4.String(), port))
			}
		}
	}
	begin = time.Now()
	if err := contact.Open(); err != nil {
		t.Fatal(err)
	}
	for _, j := range jobs {
		if _, err := j.stdout.await(t.Context(), 1, `contact$`); err != nil {
			t.Fatalf("%v\n%v", err, j)
		}
	}
	t.Logf("the ranks have met %v after they were to, with %d silent connections in all, of which %d came again",
		time.Since(begin).Round(time.Millisecond), crowd.wanted, crowd.made.Load()-int64(crowd.wanted))
	s.leave(t)
	for _, j := range jobs {
		if code := j.wait(); code != 0 {
			t.Errorf("exit code %d\n%v", code, j)
		}
	}
	crowd.end()
	s.clean(t)
}

// A silentCrowd is connections from a host that say nothing.
type silentCrowd struct {
	from   *cluster.Host
	wanted int
	made   atomic.Int64
	over   context.CancelFunc // nil before the first
	ctx    context.Context    // of the crowd, until end
	all    sync.WaitGroup
	dials  chan struct{} // has a place for each dial under way, which takes a thread
}

// gather makes connections to an address, and returns when there are as many as wanted. They
// are made again when they are closed, until the crowd ends.
func (c *silentCrowd) gather(t *testing.T, address string) {
	t.Helper()
	if c.over == nil {
		c.ctx, c.over = context.WithCancel(t.Context())
	}
	c.wanted += strangers
	var there sync.WaitGroup
	there.Add(strangers)
	for range strangers {
		c.all.Go(func() {
			first := there.Done
			for c.ctx.Err() == nil {
				conn, err := c.dial(address)
				if errors.Is(err, syscall.ECONNREFUSED) {
					break // nobody listens any more
				}
				if err == nil {
					c.made.Add(1)
					first()
					first = func() {}
					stop := context.AfterFunc(c.ctx, func() { conn.Close() })
					_, _ = io.Copy(io.Discard, conn) // until it is closed
					stop()
					conn.Close()
				}
			}
			first()
		})
	}
	there.Wait()
}

// dial connects from the host to an address where somebody listens. It fails after a while.
func (c *silentCrowd) dial(address string) (conn net.Conn, err error) {
	c.dials <- struct{}{}
	defer func() { <-c.dials }()
	err = c.from.Within(func() (err error) {
		d := net.Dialer{Timeout: 5 * time.Second}
		conn, err = d.DialContext(c.ctx, "tcp", address)
		return err
	})
	return conn, err
}

// end closes all connections.
func (c *silentCrowd) end() {
	if c.over != nil {
		c.over()
	}
	c.all.Wait()
}

// listening are the ports of TCP on which processes of a host listen.
func listening(t *testing.T, h *cluster.Host) []string {
	t.Helper()
	out, err := h.Exec(t.Context(), "sh", "-c", "cat /proc/net/tcp /proc/net/tcp6")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	var ports []string
	for line := range strings.Lines(out) {
		const listens = "0A"
		words := strings.Fields(line)
		if len(words) < 4 || words[3] != listens {
			continue
		}
		_, port, _ := strings.Cut(words[1], ":")
		n, err := strconv.ParseUint(port, 16, 16)
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if text := fmt.Sprint(n); !seen[text] {
			seen[text] = true
			ports = append(ports, text)
		}
	}
	return ports
}
