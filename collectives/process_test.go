package collectives_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/ranktest"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/algorithms"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
	"github.com/gaspi-go/gaspi-go/launcher"
)

func TestMain(m *testing.M) {
	testenv.Main(m, map[string]testenv.Role{
		"sample": rank(playSample), // also started by internal/system, across hosts
		"cells":  rank(playCells),
		"juggle": rank(playJuggle), "juggle briefly": rank(playJuggleBriefly),
		"dies": rank(playDeath), "many": rank(playMany),
		"alone": ranktest.Rank(gaspi.Config{}, func(ctx context.Context, p *gaspi.Proc, _ []string) error { return playAlone(ctx, p) }),
	})
}

// rank is the role of a rank whose argument is a number.
func rank(play func(ctx context.Context, p *gaspi.Proc, number uint64) error) testenv.Role {
	return ranktest.Rank(gaspi.Config{}, func(ctx context.Context, p *gaspi.Proc, args []string) error {
		number, err := strconv.ParseUint(args[0], 10, 64)
		if err != nil {
			return err
		}
		return play(ctx, p, number)
	})
}

// succeeds runs ranks that share memory, and have to end well.
func succeeds(t *testing.T, ranks int, role string, number uint64) {
	t.Helper()
	ranktest.Succeeds(t, launcher.Config{Ranks: ranks, Transport: "shm"}, role, strconv.FormatUint(number, 10))
}

// processSample is the sample of the matrix for processes: several instances of
// every algorithm.
func processSample(seed uint64, ranks int) []*instance {
	return sample(seed, []int{ranks, ranks, ranks}, false)
}

// TestMatrixOfProcessesOverTCP is the same where ranks do not share memory, with the
// algorithms that do not need it.
func TestMatrixOfProcessesOverTCP(t *testing.T) {
	seed := seedOf(t)
	for ranks := 1; ranks <= 5; ranks++ {
		if testing.Short() && ranks != 3 {
			continue
		}
		t.Run(fmt.Sprintf("%d ranks", ranks), func(t *testing.T) {
			ranktest.Succeeds(t, launcher.Config{Ranks: ranks, Transport: "tcp"}, "sample", strconv.FormatUint(seed, 10))
		})
	}
}

// TestMatrixOfProcesses is TestMatrix over shared memory, a process for each rank.
func TestMatrixOfProcesses(t *testing.T) {
	if isFull(t) {
		for ranks := 1; ranks <= 5; ranks++ {
			succeeds(t, ranks, "cells", 0)
		}
		return
	}
	seed := seedOf(t)
	for ranks := 1; ranks <= 5; ranks++ {
		if testing.Short() && ranks != 3 {
			continue
		}
		t.Run(fmt.Sprintf("%d ranks", ranks), func(t *testing.T) {
			succeeds(t, ranks, "sample", seed)
		})
	}
}

func playSample(ctx context.Context, p *gaspi.Proc, seed uint64) error {
	one := -1
	if text := os.Getenv(envCase); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			return err
		}
		one = n
	}
	return playInstances(ctx, p, processSample(seed, p.Size()), func(i int) bool { return one < 0 || one == i })
}

// playCells runs the whole matrix, or a shard of it.
func playCells(ctx context.Context, p *gaspi.Proc, _ uint64) error {
	part, parts, err := shard()
	if err != nil {
		return err
	}
	return playInstances(ctx, p, cells(p.Size()), func(i int) bool { return i%parts == part })
}

func playInstances(ctx context.Context, p *gaspi.Proc, all []*instance, wanted func(i int) bool) error {
	m, err := newMember(ctx, p.World(), collectives.Config{})
	if err != nil {
		return err
	}
	var wrong atomic.Int32
	apart := p.LocalSize() < p.Size() || os.Getenv("GASPI_TRANSPORT") == "tcp"
	for i, x := range all {
		if !wanted(i) || apart && needsOneHost(x) {
			continue
		}
		err := m.run(ctx, x, func(err error) {
			if wrong.Add(1) < 10 {
				fmt.Println(withCase(i, err))
			}
		})
		if err != nil {
			return withCase(i, err)
		}
	}
	if err := m.close(ctx); err != nil {
		return err
	}
	if n := wrong.Load(); n > 0 {
		return fmt.Errorf("rank %d: %d wrong results", p.Rank(), n)
	}
	return nil
}

// needsOneHost reports whether an instance is for ranks that share memory.
func needsOneHost(x *instance) bool {
	a, err := algorithms.Lookup(x.op, x.algorithm)
	return err == nil && a.Shares && !a.Hosts // an error says that the team chooses
}

// TestNonblocking3OfProcesses is TestNonblocking3 over shared memory.
func TestNonblocking3OfProcesses(t *testing.T) {
	role := "juggle"
	if testing.Short() {
		role = "juggle briefly"
	}
	succeeds(t, 3, role, seedOf(t))
}

func playJuggle(ctx context.Context, p *gaspi.Proc, seed uint64) error {
	return juggle(ctx, p, seed, 20_000)
}

func playJuggleBriefly(ctx context.Context, p *gaspi.Proc, seed uint64) error {
	return juggle(ctx, p, seed, 2_000)
}

func juggle(ctx context.Context, p *gaspi.Proc, seed uint64, operations int) error {
	m, err := newMember(ctx, p.World(), collectives.Config{})
	if err != nil {
		return err
	}
	var wrong error
	if err := m.juggle(ctx, seed, mixture(seed, p.Size()), operations, func(err error) { wrong = err }); err != nil {
		return err
	}
	return errors.Join(wrong, m.close(ctx))
}

// TestKilledProcessIsNamed kills a process in the middle of each operation: all
// survivors get an error that names it.
func TestKilledProcessIsNamed(t *testing.T) {
	const ranks = 4
	for _, op := range schedule.Operations() {
		if testing.Short() && op != schedule.AllReduce {
			continue
		}
		t.Run(op.String(), func(t *testing.T) {
			t.Parallel() // much of it is waiting
			cfg := launcher.Config{Ranks: ranks, Transport: "shm", OnFailure: launcher.Continue}
			o := ranktest.Run(t, cfg, "dies", strconv.Itoa(int(op)))
			if named := strings.Count(o.Stdout, "named\n"); named != ranks-1 {
				t.Errorf("%d survivors named the dead one; %s\n%s", named, o.Sentence, o.Output)
			}
		})
	}
}

// playDeath has rank 1 kill itself while the others call an operation.
func playDeath(ctx context.Context, p *gaspi.Proc, number uint64) error {
	const victim = 1
	x := newDealer(number, 1<<10).draw(p.Size(), schedule.Operation(number), "")
	m, err := newMember(ctx, p.World(), collectives.Config{})
	for i := 0; i < 3 && err == nil; i++ {
		err = m.run(ctx, x, func(error) {})
	}
	switch {
	case p.Rank() == victim:
		self, err := os.FindProcess(os.Getpid())
		if err != nil {
			return err
		}
		return self.Kill()
	case err != nil:
		err = names(err, victim)
	default:
		err = m.untilDead(ctx, x, victim)
	}
	if err != nil {
		return err
	}
	if err := p.ResetState(); err != nil {
		return err
	}
	g, err := group(ctx, p, 0, 2, 3)
	if err != nil {
		return err
	}
	fmt.Println("named")
	return p.Barrier(ctx, g) // nobody is taken for dead who has seen enough
}
