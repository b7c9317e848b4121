package system

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/faults"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

// envOneTrial holds the only trial that TestMatrixOfProcesses runs, as JSON.
const envOneTrial = "GASPI_TEST_TRIAL"

// Times of trials. The limit only tells an error from a hang.
const (
	trialBeat  = 3 * time.Second
	trialLimit = 60 * time.Second
	trialSlack = 3 // so many times its bound a call may take: the machine is busy
)

func playTrial(ctx context.Context, p *gaspi.Proc, args []string) error {
	var t faults.Trial
	if err := json.Unmarshal([]byte(args[0]), &t); err != nil {
		return err
	}
	return t.Play(ctx, p)
}

// callsOfTrial is how many calls a trial makes when the loss is known, besides the one that it
// comes to.
func callsOfTrial() int {
	if os.Getenv("GASPI_TEST_LONG") != "" {
		return 9
	}
	return 7
}

// trialsOf draws trials of a fault: so many at random, or as many as make each call the
// one that the fault comes to.
func trialsOf(random *rand.Rand, fault string, hosts, ranks int) []*faults.Trial {
	calls := faults.Calls(fault)
	random.Shuffle(len(calls), func(i, j int) { calls[i], calls[j] = calls[j], calls[i] })
	if os.Getenv("GASPI_TEST_LONG") == "" {
		calls = calls[:1]
	}
	var trials []*faults.Trial
	for _, first := range calls {
		t := &faults.Trial{
			Fault: fault, Calls: []string{first}, Shift: 1 + random.IntN(3), Count: []int{1, 100, 1000}[random.IntN(3)], Limit: trialLimit,
			Victim: gaspi.Rank(random.IntN(ranks)),
		}
		for range callsOfTrial() {
			others := faults.Calls(fault)
			t.Calls = append(t.Calls, others[random.IntN(len(others))])
		}
		for r := range ranks {
			t.Hosts = append(t.Hosts, r*hosts/ranks)
			t.Groups = append(t.Groups, random.IntN(2)*r%2)
		}
		for t.Other = t.Victim; hosts > 1 && t.Hosts[t.Other] == t.Hosts[t.Victim]; {
			t.Other = gaspi.Rank(random.IntN(ranks))
		}
		trials = append(trials, t)
	}
	return trials
}

// TestMatrixOfProcesses brings faults to jobs of processes on one host, over memory and
// over TCP, and on hosts of two ranks each, over both. GASPI_TEST_TRIAL, as a failed trial is
// printed, runs that one again.
func TestMatrixOfProcesses(t *testing.T) {
	t.Parallel()
	s := newSite(t, 3)
	if text := os.Getenv(envOneTrial); text != "" {
		s.tryAgain(t, text)
		return
	}
	random := rand.New(rand.NewPCG(newSeed(t), 0))
	for _, wires := range []string{"shm", "tcp"} {
		for _, fault := range faults.Faults(1) {
			for i, x := range trialsOf(random, fault, 1, 4) {
				t.Run(fmt.Sprintf("%s/%s/%d", wires, fault, i), func(t *testing.T) {
					s.try(t, x, "-n", "4", "--transport", wires)
				})
			}
		}
	}
	for _, fault := range faults.Faults(3) {
		for i, x := range trialsOf(random, fault, 3, 6) {
			t.Run(fmt.Sprintf("mixed/%s/%d", fault, i), func(t *testing.T) {
				s.try(t, x, "--hosts", s.List(2), "--ssh", s.SSH())
			})
		}
	}
}

// tryAgain runs a trial again that a failed test has printed, as JSON.
func (s *site) tryAgain(t *testing.T, text string) {
	var x faults.Trial
	if err := json.Unmarshal([]byte(text), &x); err != nil {
		t.Fatalf("%s: %v", envOneTrial, err)
	}
	if slices.Max(x.Hosts) > 0 {
		s.try(t, &x, "--hosts", s.List(2), "--ssh", s.SSH())
		return
	}
	for _, wires := range []string{"shm", "tcp"} {
		t.Run(wires, func(t *testing.T) { s.try(t, &x, "-n", fmt.Sprint(len(x.Hosts)), "--transport", wires) })
	}
}

// try runs a trial: it brings the fault about when all ranks are ready, and looks at what
// they say.
func (s *site) try(t *testing.T, x *faults.Trial, where ...string) {
	x.Dir = filepath.Join(s.Dir(), strings.ReplaceAll(t.Name(), "/", "-"))
	if err := os.MkdirAll(x.Dir, 0o777); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(x)
	if err != nil {
		t.Fatal(err)
	}
	flags := append(where, "--heartbeat", trialBeat.String(), "--on-failure", "continue")
	j := s.play(t, testenv.AsRole("trial", string(text)), flags...)
	ranks := len(x.Hosts)
	if _, err := j.stdout.await(t.Context(), ranks, `ready$`); err != nil {
		t.Fatalf("%s\n%v\n%v", text, err, j)
	}
	time.Sleep(time.Duration(rand.Int64N(int64(20 * time.Millisecond)))) // sleep: the moment of the fault
	begin := time.Now()
	heal := s.bring(t, x)
	defer heal()
	first, ever := 0, 0
	for r := range gaspi.Rank(ranks) {
		now, sometime := x.Reports(r)
		first, ever = first+one(now), ever+one(sometime)
	}
	if _, err := j.stdout.await(t.Context(), first, `told$`); err != nil {
		t.Errorf("%d ranks were to say how their calls ended: %v", first, err)
	}
	leave := time.Now()
	if err := os.WriteFile(filepath.Join(x.Dir, "leave"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	j.wait()
	done := len(j.stdout.find(`done$`))
	wrong := j.stdout.find(`\bwrong`)
	if done < ever || len(wrong) > 0 {
		t.Errorf("%s\n%d of %d ranks have come to an end, and %d calls ended wrongly\n%v", text, done, ever, len(wrong), j)
	}
	lost, left, bound := latest(j, x, true, begin), latest(j, x, false, leave), x.Bound(trialBeat)
	t.Logf("%d cells; the last error of the first call, %s, came %v after the fault where a rank that it needs was lost, and %v after others left where these had lost one; the bound is %v",
		len(j.stdout.find(`\bcell `)), x.Calls[0], lost, left, bound)
	if most := trialSlack * bound; lost > most || left > most {
		t.Errorf("%s\nan error came more than %v too late\n%v", text, most-bound, j)
	}
	s.clean(t)
}

// latest is how long after begin the last error came of the call that the fault came to, at
// ranks that tell of it before others leave, or at those that do not.
func latest(j *job, x *faults.Trial, told bool, begin time.Time) time.Duration {
	last := begin
	for _, l := range j.stdout.find(`cell ` + regexp.QuoteMeta(x.Calls[0]) + `: rank \d+ is lost`) {
		var r gaspi.Rank
		if _, err := fmt.Sscanf(l.text, "[%d]", &r); err != nil {
			continue // no line of a rank
		}
		if first, _ := x.Reports(r); first == told && l.at.After(last) {
			last = l.at
		}
	}
	return last.Sub(begin).Round(time.Millisecond)
}

func one(is bool) int {
	if is {
		return 1
	}
	return 0
}

// bring brings the fault of a trial about, and returns what ends it.
func (s *site) bring(t *testing.T, x *faults.Trial) (heal func()) {
	t.Helper()
	signal := map[string]syscall.Signal{"kill": syscall.SIGKILL, "stop": syscall.SIGSTOP}[x.Fault]
	victim, other := s.Hosts()[x.Hosts[x.Victim]], s.Hosts()[x.Hosts[x.Other]]
	switch x.Fault {
	case "kill", "stop":
		pid, err := s.awaitRank(t.Context(), int(x.Victim))
		if err == nil {
			err = syscall.Kill(pid, signal)
		}
		if err != nil {
			t.Fatal(err)
		}
	case "host cut":
		s.Cut(victim)
		return func() { s.Heal(victim) }
	case "link cut":
		s.Partition(victim, other)
		return func() { s.Join(victim, other) }
	case "link cut one way":
		s.CutOneWay(victim, other)
		return func() { s.Join(victim, other) }
	case "launcher cut":
		s.Partition(s.Head(), victim)
		return func() { s.Join(s.Head(), victim) }
	}
	return func() {}
}
