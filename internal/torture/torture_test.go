package torture

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

// settings are the flags of TestTorture, those of a rank of it among them.
type settings struct {
	JobOptions
	transports, families string
	ranks                int
}

// given is what the flags of the test program say, once they are parsed.
var given = declare(flag.CommandLine)

// declare declares flags, which set what it returns.
func declare(flags *flag.FlagSet) *settings {
	s := &settings{}
	flags.Uint64Var(&s.Seed, "seed", 0, "seed of the first job, the next job has the next one; 0 draws one")
	flags.DurationVar(&s.Duration, "duration", 6*time.Second, "how long TestTorture runs, in all")
	flags.StringVar(&s.transports, "transports", defaultTransports, "transports that jobs use in turns: loopback, shm, tcp, emulated, mixed (which needs root), rdma (in builds with that tag)")
	flags.StringVar(&s.families, "families", strings.Join(Families(), ","), "families that rounds are made of; those that begin with - are left out")
	flags.IntVar(&s.ranks, "ranks", 0, "number of ranks; 0 draws it")
	flags.Uint64Var(&s.First, "first", 0, "first round of each job")
	flags.Uint64Var(&s.Rounds, "rounds", 0, "most rounds of each job; 0 means no limit")
	flags.DurationVar(&s.Limit, "limit", DefaultLimit, "how long a round may take")
	flags.StringVar(&s.Mutant, "mutant", "", "the mutant that is active")
	flags.BoolVar(&s.Whole, "whole", false, "cut no context short: shows whether a failure has to do with that")
	return s
}

// chosen reads a list of families: those that are named, or all but those.
func chosen(list string) []string {
	names := strings.Split(list, ",")
	if strings.HasPrefix(list, "-") {
		return slices.DeleteFunc(Families(), func(name string) bool { return slices.Contains(names, "-"+name) })
	}
	slices.Sort(names)
	return names
}

// flags returns what a rank is told, and what runs the same job again.
func (s *settings) flags() []string {
	return []string{
		"-seed", fmt.Sprint(s.Seed), "-families", strings.Join(s.Families, ","), "-first", fmt.Sprint(s.First),
		"-rounds", fmt.Sprint(s.Rounds), "-duration", s.Duration.String(), "-limit", s.Limit.String(),
		fmt.Sprint("-whole=", s.Whole), "-mutant", s.Mutant,
	}
}

// role is the entry of the environment that makes a process a rank.
func (s *settings) role() string { return testenv.AsRole("rank", s.flags()...) }

func TestMain(m *testing.M) { testenv.Main(m, map[string]testenv.Role{"rank": playRank}) }

// playRank is what a process of a job does. Its arguments are settings.flags.
func playRank(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("rank", flag.ContinueOnError)
	s := declare(flags)
	if err := flags.Parse(args); err != nil {
		return err
	}
	s.Families = chosen(s.families)
	o := s.JobOptions
	runtime.GOMAXPROCS(pick(stream(o.Seed, keyConfig, 1), 1, 2, runtime.GOMAXPROCS(0)))
	before, err := Count()
	if err != nil {
		return err
	}
	report, err := joinAndRun(ctx, o)
	if err != nil {
		return err
	}
	if err := before.Compare(); err != nil {
		return err
	}
	text, err := json.Marshal(report)
	fmt.Println(reportMark + string(text))
	return err
}

func joinAndRun(ctx context.Context, o JobOptions) (RankReport, error) {
	p, err := gaspi.Init(ctx, Config(o.Seed))
	if err != nil {
		return RankReport{}, err
	}
	report, err := Run(ctx, p, o)
	if err != nil {
		return report, fmt.Errorf("rank %d of %d, seed %d, %w", p.Rank(), p.Size(), o.Seed, err)
	}
	return report, p.Close()
}

// reportMark begins the line by which a rank says what it has done.
const reportMark = "report: "

// TestTorture runs jobs, each with the next seed, on the transports in turns.
func TestTorture(t *testing.T) {
	s := givenSettings()
	transports := strings.Split(s.transports, ",")
	var hosts *hosts
	begin, total, rounds := time.Now(), s.Duration, uint64(0)
	job := *s
	job.Duration = min(time.Minute, total/time.Duration(len(transports)))
	for n := 0; n < len(transports) || time.Since(begin)+job.Duration/2 < total; n++ {
		transport := transports[n%len(transports)]
		if transport == "mixed" && hosts == nil {
			hosts = newHosts(t)
		}
		job.Seed = s.Seed + uint64(n)
		ranks := ranksOf(&job, transport)
		start := time.Now()
		report, err := runJob(t, hosts, job, transport, ranks)
		if err != nil {
			t.Fatalf("%s, %d ranks: %v\n\nagain: %s", transport, ranks, err, job.again(transport, ranks))
		}
		if report.Rounds == 0 && job.Rounds == 0 {
			t.Fatalf("%s, %d ranks, seed %d: no rounds", transport, ranks, job.Seed)
		}
		rounds += report.Rounds
		t.Logf("%-8s %d ranks, seed %d: %d rounds in %.1f s, peak %d MiB;%s", transport, ranks, job.Seed, report.Rounds,
			time.Since(start).Seconds(), report.PeakMiB, operations(report))
	}
	t.Logf("%d rounds in %.0f s, no failure", rounds, time.Since(begin).Seconds())
}

// givenSettings returns the settings of the job that the flags of the test program say.
func givenSettings() *settings {
	s := *given
	s.Families = chosen(s.families)
	if s.Seed == 0 {
		s.Seed = rand.Uint64N(1_000_000_000)
	}
	return &s
}

// ranksOf is the number of ranks of a job: more than this machine has cores, as a rule, or one,
// where nothing comes from another rank that would hide a wake-up that is missing.
func ranksOf(s *settings, transport string) int {
	rng := stream(s.Seed, keyConfig, 2)
	switch {
	case s.ranks > 0:
		return s.ranks
	case transport == "mixed":
		return hostSlots * hostCount
	case transport == "emulated":
		return 2 + rng.IntN(3)
	}
	return 1 + rng.IntN(8)
}

// again is the command that runs a job once more.
func (s settings) again(transport string, ranks int) string {
	words := []string{"go test ./internal/torture -run '^TestTorture$' -count=1 -v -timeout 0"}
	words = append(words, "-transports", transport, "-ranks", fmt.Sprint(ranks))
	flags := s.flags()
	return strings.Join(append(words, flags[:len(flags)-2]...), " ")
}

// operations lists counts of operations by family.
func operations(r RankReport) string {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(r.Operations)) {
		words = append(words, fmt.Sprintf(" %s %d", name, r.Operations[name]))
	}
	return strings.Join(words, ",")
}

// merge adds up what all ranks have done.
func merge(reports []RankReport) (RankReport, error) {
	sum := RankReport{Operations: map[string]uint64{}}
	for _, r := range reports {
		if sum.Rounds != 0 && sum.Rounds != r.Rounds {
			return sum, errors.New("the ranks have not run the same number of rounds")
		}
		sum.Rounds, sum.PeakMiB = r.Rounds, max(sum.PeakMiB, r.PeakMiB)
		for name, n := range r.Operations {
			sum.Operations[name] += n
		}
	}
	return sum, nil
}
