package system

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/testenv"
	"github.com/gaspi-go/gaspi-go/internal/testenv/cluster"
)

// newSeed returns a seed and prints it.
func newSeed(t *testing.T) uint64 {
	seed := rand.Uint64() >> 1
	t.Logf("seed %d", seed)
	return seed
}

// heartbeat is the limit of silence in these tests. Within twice of it everybody
// has to know.
const heartbeat = 4 * time.Second

// onHosts are the flags that start ranks there.
func (s *site) onHosts(hosts string) []string {
	return []string{"--hosts", hosts, "--ssh", s.SSH(), "--heartbeat", heartbeat.String()}
}

// reduce starts ranks, as flags say, that do allreduces until losses are lost.
func (s *site) reduce(t *testing.T, losses int, flags ...string) *job {
	t.Helper()
	return s.play(t, testenv.AsRole("reduce", fmt.Sprint(losses)), flags...)
}

// play starts ranks that have a role, an entry of the environment.
func (s *site) play(t *testing.T, role string, flags ...string) *job {
	t.Helper()
	args := append(flags, "--env", role)
	return start(t, s.Head(), nil, s.program("gaspi-run"), append(args, s.Self(t))...)
}

// TestHostIsCutOff pulls the cable of a host in the middle of an allreduce.
func TestHostIsCutOff(t *testing.T) {
	t.Parallel()
	s := newSite(t, 4)
	h := s.Hosts()
	for _, c := range []struct {
		name string
		host int
		lost string // its ranks
		gone string // a pattern of any of them
	}{
		{"the last", 3, "6 7", "[67]"},
		{"the first, with rank 0", 0, "0 1", "[01]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			defer s.Heal(h[c.host])
			j := s.reduce(t, 2, append(s.onHosts(s.List(2)), "--on-failure", "continue")...)
			if _, err := j.stdout.await(t.Context(), 8, `begun$`); err != nil {
				t.Fatalf("%v\n%v", err, j)
			}
			cut := time.Now()
			s.Cut(h[c.host])
			code := j.wait()
			if code <= 0 {
				t.Errorf("exit code %d, want that of a job that lost ranks\n%v", code, j)
			}
			for _, k := range []struct{ what, pattern string }{
				{"an error that names a rank", `named ` + c.gone + `$`},
				{"the lost ranks", `lost ` + c.lost + `$`},
				{"a group of survivors", `met 6$`},
			} {
				found := j.stdout.find(k.pattern)
				if len(found) != 6 {
					t.Fatalf("%d of 6 survivors have %s\n%v", len(found), k.what, j)
				}
				for _, l := range found {
					after := l.at.Sub(cut)
					t.Logf("%s after %v", l.text, after.Round(time.Millisecond))
					if after > 2*heartbeat {
						t.Errorf("%q came %v after the cut; the limit is %v", l.text, after, 2*heartbeat)
					}
				}
			}
			s.clean(t) // also on the host that is cut off
		})
	}
	t.Run("abort", func(t *testing.T) {
		defer s.Heal(h[2])
		j := s.reduce(t, 2, s.onHosts(s.List(2))...)
		if _, err := j.stdout.await(t.Context(), 8, `begun$`); err != nil {
			t.Fatalf("%v\n%v", err, j)
		}
		s.Cut(h[2])
		if code := j.wait(); code <= 0 || j.stderr.sentences(`^gaspi-run: .*h3`) != 1 {
			t.Errorf("exit code %d, want one sentence that names h3\n%v", code, j)
		}
		s.clean(t)
	})
}

// TestRecoverFromTheLossOfAHost runs the example that goes on with who is left.
func TestRecoverFromTheLossOfAHost(t *testing.T) {
	t.Parallel()
	s := newSite(t, 4, "recover")
	args := append(s.onHosts(s.List(2)), "--on-failure", "continue", s.program("recover"), "--steps", "200", "--work", "10ms")
	j := start(t, s.Head(), nil, s.program("gaspi-run"), args...)
	if _, err := j.stdout.await(t.Context(), 8, `process \d+$`); err != nil {
		t.Fatalf("%v\n%v", err, j)
	}
	time.Sleep(300 * time.Millisecond) // sleep: the moment of the fault, in some step
	s.Cut(s.Hosts()[2])
	if code := j.wait(); code <= 0 {
		t.Errorf("exit code %d, want that of a job that lost ranks\n%v", code, j)
	}
	goOn := j.stdout.find(`step \d+: 6 ranks go on$`)
	if len(goOn) != 6 {
		t.Fatalf("%d of 6 survivors go on\n%v", len(goOn), j)
	}
	var step int
	if _, err := fmt.Sscanf(goOn[0].text[len("[0] "):], "step %d:", &step); err != nil {
		t.Fatal(err)
	}
	// Each rank adds its number + 1 in a step: 36 together, 25 without ranks 4 and 5.
	want := fmt.Sprintf(`step 200: the total is %d$`, step*36+(200-step)*25)
	if ended := j.stdout.find(want); len(ended) != 6 {
		t.Errorf("%d of 6 survivors end with %q\n%v", len(ended), want, j)
	}
	s.clean(t)
}

// TestHostsLoseEachOther cuts two hosts off from each other alone. Their ranks end
// with an error, and so do all others, which miss nobody themselves. In each order of their
// ends, the user reads which ranks have lost each other.
func TestHostsLoseEachOther(t *testing.T) {
	t.Parallel()
	s := newSite(t, 3)
	h := s.Hosts()
	for _, c := range []struct{ role, onFailure string }{
		{"stop", "abort"}, {"stop", "continue"}, {"barrier", "abort"}, {"small", "abort"}, {"shapes", "abort"}, {"commit", "abort"},
	} {
		t.Run(c.role+"/"+c.onFailure, func(t *testing.T) {
			defer s.Join(h[0], h[1])
			j := s.play(t, testenv.AsRole(c.role), append(s.onHosts(s.List(2)), "--on-failure", c.onFailure)...)
			if _, err := j.stdout.await(t.Context(), 6, `begun$`); err != nil {
				t.Fatalf("%v\n%v", err, j)
			}
			s.Partition(h[0], h[1])
			const sentence = `^gaspi-run: rank [0-5] \(pid \d+\) exited with status 1 after \S+( s)?, once (it|rank [0-3]) had lost rank [0-3] \(.*no answer from its host for 4s`
			if code := j.wait(); code != 1 || j.stderr.sentences(sentence) != 1 {
				t.Errorf("exit code %d, want that of a rank, and a sentence that names two of ranks 0 to 3\n%v", code, j)
			}
			if len(j.stderr.find(`^\[\d\] .*rank [0-3] is gone`)) == 0 {
				t.Errorf("nobody says which rank it missed\n%v", j)
			}
			s.clean(t)
		})
	}
}

// TestLauncherIsGone takes the launcher from ranks that know nothing of it, with
// children of their own: nothing of the job may stay.
func TestLauncherIsGone(t *testing.T) {
	t.Parallel()
	s := newSite(t, 2)
	for _, c := range []struct {
		name string
		do   func(j *job)
	}{
		{"killed", func(j *job) { j.stop() }},
		{"stopped and killed", func(j *job) {
			cluster.Signal(j.cmd, syscall.SIGSTOP)
			time.Sleep(100 * time.Millisecond) // sleep: how long it is stopped before it is killed
			j.stop()
		}},
		{"interrupted", func(j *job) { cluster.Signal(j.cmd, syscall.SIGINT) }},
		{"cut off", func(*job) { s.Cut(s.Head()) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			defer s.Heal(s.Head())
			args := append(s.onHosts(s.List(2)), "sh", "-c", "sleep 1000 & echo begun; sleep 1001")
			j := start(t, s.Head(), nil, s.program("gaspi-run"), args...)
			if _, err := j.stdout.await(t.Context(), 4, `begun$`); err != nil {
				t.Fatalf("%v\n%v", err, j)
			}
			c.do(j)
			if code := j.wait(); code == 0 {
				t.Errorf("exit code 0, want a failure\n%v", j)
			}
			s.clean(t)
		})
	}
}

// moments is how many random moments TestRanksDieAtAnyMoment takes.
func moments() int {
	if os.Getenv("GASPI_TEST_LONG") != "" {
		return 100
	}
	return 6
}

// TestRanksDieAtAnyMoment kills or stops ranks at random moments, from their
// start on: never a hang, never silence.
func TestRanksDieAtAnyMoment(t *testing.T) {
	t.Parallel()
	s := newSite(t, 2)
	seed := newSeed(t)
	random := rand.New(rand.NewPCG(seed, 0))
	for _, c := range []struct {
		name  string
		flags []string
	}{
		{"one host", []string{"-n", "4", "--heartbeat", heartbeat.String()}},
		{"two hosts", s.onHosts(s.List(2))},
	} {
		for i := range moments() {
			d := death{
				// Short times are as likely as long ones: much goes on at the start.
				rank: random.IntN(4), wait: time.Duration(1) << random.IntN(30),
				sig: []syscall.Signal{syscall.SIGKILL, syscall.SIGSTOP}[i%2], goOn: random.IntN(2) == 0,
			}
			t.Run(fmt.Sprintf("%s %d %+v", c.name, i, d), func(t *testing.T) { s.die(t, d, c.flags) })
		}
	}
}

// A death is what happens to one of 4 ranks.
type death struct {
	rank int
	sig  syscall.Signal
	wait time.Duration // since it began
	goOn bool          // the others are meant to go on
}

// die runs a job in which a rank dies.
func (s *site) die(t *testing.T, d death, flags []string) {
	onFailure := "abort"
	if d.goOn {
		onFailure = "continue"
	}
	j := s.reduce(t, 1, append(slices.Clone(flags), "--on-failure", onFailure)...)
	pid, err := s.awaitRank(t.Context(), d.rank)
	if err != nil {
		t.Fatalf("%v\n%v", err, j)
	}
	time.Sleep(d.wait) // sleep: the moment of the death
	if err := syscall.Kill(pid, d.sig); err != nil {
		t.Fatalf("%v\n%v", err, j)
	}
	code := j.wait()
	if code <= 0 || len(j.stderr.find(fmt.Sprintf(`^gaspi-run: .*rank %d `, d.rank))) == 0 {
		t.Errorf("exit code %d, want a failure and a sentence that names rank %d\n%v", code, d.rank, j)
	}
	if met := len(j.stdout.find(`met 3$`)); d.goOn && len(j.stdout.find(`begun$`)) == 4 && met != 3 {
		t.Errorf("%d of 3 survivors went on\n%v", met, j)
	}
	s.clean(t)
}

// awaitRank returns the process of a rank when it has begun.
func (s *site) awaitRank(ctx context.Context, rank int) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, jobLimit)
	defer cancel()
	for {
		var seen []string
		for _, h := range append([]*cluster.Host{s.Head()}, s.Hosts()...) {
			ranks, err := ranksOn(h)
			if err != nil {
				return 0, err
			}
			if pid := ranks[rank]; pid != 0 {
				return pid, nil
			}
			seen = append(seen, fmt.Sprint(h.Name, ": ", ranks))
		}
		select {
		case <-ctx.Done():
			return 0, fmt.Errorf("rank %d has not begun: %s", rank, strings.Join(seen, ", "))
		case <-time.After(time.Millisecond): // often enough to catch a rank early in its life
		}
	}
}
