package boot

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/auth"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

// plansOfJob returns how each rank of a job without a launcher joins.
func plansOfJob(t *testing.T, size int) []networkPlan {
	t.Helper()
	address, key := testenv.FreeAddress(t), auth.NewKey()
	var plans []networkPlan
	for r := range size {
		plans = append(plans, networkPlan{
			info:      Info{Rank: base.Rank(r), Size: size, LocalSize: 1, Job: key.JobID(), Host: fmt.Sprint(r)},
			meeting:   meeting{addresses: []string{address}, proof: auth.Credentials{Key: key}, patience: 20 * time.Second},
			serves:    r == 0,
			heartbeat: DefaultHeartbeat,
		})
	}
	return plans
}

// joinAll joins all ranks at once.
func joinAll(t *testing.T, plans []networkPlan) []Session {
	t.Helper()
	sessions := make([]Session, len(plans))
	var all sync.WaitGroup
	for r, p := range plans {
		all.Go(func() {
			s, err := p.join(testenv.Context(t))
			if err != nil {
				t.Errorf("rank %d: %v", r, err)
				return
			}
			sessions[r] = s
		})
	}
	all.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return sessions
}

func TestJobWithoutLauncher(t *testing.T) {
	for _, secure := range []bool{false, true} {
		t.Run(fmt.Sprintf("tls %v", secure), func(t *testing.T) {
			plans := plansOfJob(t, 4)
			for i := range plans {
				plans[i].meeting.secure = secure
			}
			sessions := joinAll(t, plans)
			var all sync.WaitGroup
			for r, s := range sessions {
				all.Go(func() {
					if err := s.Put("x", fmt.Append(nil, r)); err != nil {
						t.Error(err)
					}
					if got, err := s.Get(testenv.Context(t), base.Rank(3-r), "x"); err != nil || string(got) != fmt.Sprint(3-r) {
						t.Errorf("rank %d: %q, %v", r, got, err)
					}
					if err := s.Fence(testenv.Context(t), "f", ""); err != nil {
						t.Error(err)
					}
					if err := s.Close(); err != nil { // rank 0 waits for the others here
						t.Error(err)
					}
					if s.Lost() != nil {
						t.Errorf("rank %d lost the rendezvous", r)
					}
				})
			}
			all.Wait()
			if _, err := net.Dial("tcp", plans[0].meeting.addresses[0]); err == nil {
				t.Error("the rendezvous is still open")
			}
		})
	}
}

func TestRankThatLeavesIsNoFailureOfTheRest(t *testing.T) {
	sessions := joinAll(t, plansOfJob(t, 3))
	sessions[2].Close()
	want := Failure{Rank: 2, Left: true, Reason: "it left the job"}
	for r, s := range sessions[:2] {
		if d := cmp.Diff(want, failureAt(t, s)); d != "" {
			t.Errorf("rank %d (-want +got):\n%s", r, d)
		}
	}
	closed := make(chan error)
	go func() { closed <- sessions[0].Close() }()
	if f := failureAt(t, sessions[1]); f.Rank != 0 || !f.Left {
		t.Errorf("%+v, want that rank 0 left", f)
	}
	// Rank 0 has left, and still serves.
	if err := sessions[1].Put("x", []byte("v")); err != nil {
		t.Error(err)
	}
	if got, err := sessions[1].Get(testenv.Context(t), 1, "x"); err != nil || string(got) != "v" {
		t.Errorf("%q, %v", got, err)
	}
	sessions[1].Close()
	if err := <-closed; err != nil {
		t.Error(err)
	}
}

func TestRankThatComesAfterTheEndIsTold(t *testing.T) {
	plans := plansOfJob(t, 3)
	sessions := joinAll(t, plans[:2])
	closed := make(chan error)
	go func() { closed <- sessions[0].Close() }()
	failureAt(t, sessions[1]) // rank 0 has left
	if _, err := plans[2].join(testenv.Context(t)); !errors.Is(err, auth.ErrRefused) || !strings.Contains(err.Error(), "rank 0, which holds the rendezvous, has left") {
		t.Errorf("%v, want to be refused because rank 0 has left", err)
	}
	sessions[1].Close()
	<-closed
}

func TestKillBeforeARankHasJoined(t *testing.T) {
	s := joinAll(t, plansOfJob(t, 2)[:1])[0]
	defer s.Close()
	if err := s.Kill(testenv.Context(t), 1); err == nil || !strings.Contains(err.Error(), "not joined yet") {
		t.Errorf("%v", err)
	}
}

func TestNothingOfARendezvousIsLeftOpen(t *testing.T) {
	cycle := func() {
		t.Run("job", func(t *testing.T) { // which has ports of its own as long as it lasts
			sessions := joinAll(t, plansOfJob(t, 3))
			var all sync.WaitGroup
			for _, s := range sessions {
				all.Go(func() { s.Close() })
			}
			all.Wait()
		})
	}
	cycle()
	before := openDescriptors(t)
	for range 5 {
		cycle()
	}
	if after := openDescriptors(t); after > before {
		t.Errorf("%d descriptors before, %d after 5 jobs", before, after)
	}
}

// stranger is what a process that is a rank of a job without launcher does: it
// says what it learns about the others, and obeys its standard input.
func stranger(s Session) error {
	ctx := context.Background()
	if err := s.Put("pid", fmt.Append(nil, os.Getpid())); err != nil {
		return err
	}
	if err := s.Fence(ctx, "start", ""); err != nil {
		return err
	}
	fmt.Println("joined")
	go func() {
		for f := range s.Failures() {
			fmt.Printf("gone: rank %d left=%v %s\n", f.Rank, f.Left, f.Reason)
		}
		if s.Lost() != nil {
			fmt.Println("lost")
			os.Exit(7)
		}
	}()
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		verb, rest, _ := strings.Cut(in.Text(), " ")
		switch verb {
		case "kill":
			fmt.Println("killed:", s.Kill(ctx, base.Rank(rest[0]-'0')))
		case "close":
			fmt.Println("closed:", s.Close())
			return nil
		case "exit":
			os.Exit(3)
		}
	}
	return nil
}

// A processRank is a rank in a process of its own.
type processRank struct {
	t     *testing.T
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines chan string
}

// startProcesses starts a job of ranks that have nothing in common but their
// environment.
func startProcesses(t *testing.T, size int, more ...string) []*processRank {
	t.Helper()
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte(auth.NewKey().Text()), 0o600); err != nil {
		t.Fatal(err)
	}
	env := append([]string{EnvSize + "=" + fmt.Sprint(size), EnvRendezvous + "=" + testenv.FreeAddress(t), EnvKeyFile + "=" + file}, more...)
	var ranks []*processRank
	for r := range size {
		p := &processRank{t: t, cmd: testenv.Command(context.Background(), "stranger"), lines: make(chan string, 1000)}
		p.cmd.Env = append(slices.Concat(p.cmd.Env, env), fmt.Sprintf("%s=%d", EnvRank, r))
		p.cmd.Stderr = os.Stderr
		var err error
		if p.in, err = p.cmd.StdinPipe(); err != nil {
			t.Fatal(err)
		}
		out, err := p.cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := p.cmd.Start(); err != nil {
			t.Fatal(err)
		}
		go func() {
			defer close(p.lines)
			for in := bufio.NewScanner(out); in.Scan(); {
				p.lines <- in.Text()
			}
		}()
		t.Cleanup(func() {
			p.cmd.Process.Kill()
			p.cmd.Wait()
		})
		ranks = append(ranks, p)
	}
	for _, p := range ranks {
		p.expect("joined")
	}
	return ranks
}

// expect reads what the rank says until it says want.
func (p *processRank) expect(want string) {
	p.t.Helper()
	var others []string
	for {
		select {
		case line, ok := <-p.lines:
			if line == want {
				return
			}
			if !ok {
				p.t.Fatalf("it ended and said %q, not %q", others, want)
			}
			others = append(others, line)
		case <-testenv.Context(p.t).Done():
			p.t.Fatalf("it said %q, not %q", others, want)
		}
	}
}

func (p *processRank) tell(line string) { io.WriteString(p.in, line+"\n") }

func TestProcessesWithoutLauncherLeave(t *testing.T) {
	for _, tls := range []string{"0", "1"} {
		ranks := startProcesses(t, 3, EnvTLS+"="+tls)
		ranks[0].tell("close")
		ranks[1].expect("gone: rank 0 left=true it left the job")
		ranks[1].tell("close")
		ranks[1].expect("closed: <nil>")
		ranks[2].expect("gone: rank 1 left=true it left the job")
		ranks[2].tell("close")
		ranks[2].expect("closed: <nil>")
		ranks[0].expect("closed: <nil>")
		for r, p := range ranks {
			if err := p.cmd.Wait(); err != nil {
				t.Errorf("rank %d: %v", r, err)
			}
		}
	}
}

func TestProcessesWithoutLauncherFail(t *testing.T) {
	t.Parallel()
	ranks := startProcesses(t, 5, EnvHeartbeat+"=2s")
	const ended = "its connection to the rendezvous ended without goodbye"
	ranks[4].tell("exit") // without a word
	for _, p := range ranks[:4] {
		p.expect("gone: rank 4 left=false " + ended)
	}
	ranks[2].tell("kill 3")
	ranks[2].expect("killed: <nil>")
	ranks[1].expect("gone: rank 3 left=false " + ended)
	if err := ranks[3].cmd.Wait(); err == nil || err.Error() != "signal: killed" {
		t.Errorf("rank 3 ended with %v", err)
	}
	ranks[2].cmd.Process.Signal(syscall.SIGSTOP)
	ranks[1].expect("gone: rank 2 left=false no sign of life for 2s")
	ranks[2].cmd.Process.Signal(syscall.SIGCONT)
	ranks[2].expect("lost") // the others go on without it
	ranks[0].cmd.Process.Kill()
	ranks[1].expect("gone: rank 0 left=false its connection ended without goodbye")
	ranks[1].expect("lost")
}
