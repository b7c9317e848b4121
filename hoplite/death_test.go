package hoplite_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/hoplite"
	"github.com/gaspi-go/gaspi-go/internal/ranktest"
	"github.com/gaspi-go/gaspi-go/launcher"
)

// Ranks of processes call at random, one of them is killed at a random moment, and the
// others go on. Every call must end with data that somebody put, or with an error that is
// true; afterwards the store must work for those that are left; and all that was seen must
// be possible.

const (
	mortalRanks = 8
	clients     = 2                      // goroutines of a rank that call
	lifeTime    = 500 * time.Millisecond // how long they do
	patience    = 100 * time.Millisecond // how long a call waits for what may never be put
	mostVoid    = 5                      // how often a job is repeated whose ranks were stopped from outside
)

// sizes are the numbers of elements of three families of objects: carried by the
// directory, of one chunk, and of many.
var sizes = [...]int{100, 5_000, 200_000}

func mortalConfig() hoplite.Config {
	return hoplite.Config{Capacity: 24 << 20, Chunk: 64 << 10, Inline: 4096, Window: 2}
}

// seedOf is the seed of a random test: that of the environment, or a new one.
func seedOf(t *testing.T) uint64 {
	seed := rand.Uint64N(1 << 32)
	if text := os.Getenv("HOPLITE_TEST_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("HOPLITE_TEST_SEED=%d", seed)
	return seed
}

func isLong() bool { return os.Getenv("GASPI_TEST_LONG") == "1" }

func TestARankIsKilledAtARandomMoment(t *testing.T) {
	seed, moments := seedOf(t), 4
	if isLong() {
		moments = 200
	}
	checked := 0
	for i := range uint64(moments) {
		transport := "shm"
		if i%4 == 3 {
			transport = "tcp"
		}
		killOne(t, transport, seed+i, &checked)
		if t.Failed() {
			return
		}
	}
	if checked == 0 {
		t.Error("no history could be checked in time")
	}
	t.Logf("%d of %d histories were checked; the others took too long", checked, moments)
}

// killOne runs a job one of whose ranks is killed.
func killOne(t *testing.T, transport string, seed uint64, checked *int) {
	dir, ok := runMortals(t, transport, seed)
	if !ok {
		return
	}
	switch possible, n := checkHistories(t, dir); possible {
	case unknownResult:
	case impossible:
		t.Errorf("HOPLITE_TEST_SEED=%d over %s: %d calls could not have happened in any order", seed, transport, n)
	default:
		*checked++
	}
}

// runMortals runs the job of killOne, reports whether its ranks ended as they should, and
// returns where they have left their histories.
func runMortals(t *testing.T, transport string, seed uint64) (string, bool) {
	victim := gaspi.Rank(rand.New(rand.NewPCG(seed, 0)).IntN(mortalRanks))
	for range mostVoid {
		dir := t.TempDir()
		cfg := launcher.Config{Ranks: mortalRanks, Transport: transport, OnFailure: launcher.Continue}
		res := ranktest.Run(t, cfg, "mortal", strconv.FormatUint(seed, 10), dir)
		t.Logf("HOPLITE_TEST_SEED=%d over %s: rank %d dies; the job took %v", seed, transport, victim, res.Elapsed.Round(time.Millisecond))
		if stoppedFromOutside(res.Result) {
			t.Logf("void, and repeated: a rank was stopped from outside, for so long that the launcher has ended it\n%s", res.Output)
			continue
		}
		for r := range gaspi.Rank(mortalRanks) {
			if _, err := os.Stat(filepath.Join(dir, fmt.Sprintf("done-%d", r))); (err == nil) == (r == victim) {
				t.Errorf("HOPLITE_TEST_SEED=%d over %s: rank %d did not end as expected; rank %d was to die\n%s", seed, transport, r, victim, res.Output)
				return dir, false
			}
		}
		return dir, true
	}
	t.Errorf("HOPLITE_TEST_SEED=%d over %s: ranks were stopped from outside %d times", seed, transport, mostVoid)
	return "", false
}

// stoppedFromOutside reports whether the launcher has killed a rank because the machine, or
// somebody on it, had stopped it. Objects lost with it are truly lost, which is no defect of
// the store.
func stoppedFromOutside(res launcher.Result) bool {
	return slices.ContainsFunc(res.Ranks, func(e launcher.RankExit) bool { return e.Why != "" })
}

// playMortal is the life of a rank of killOne. Its arguments are the seed, and the directory of
// the histories.
func playMortal(ctx context.Context, p *gaspi.Proc, args []string) error {
	dir := args[1]
	seed, err := strconv.ParseUint(args[0], 10, 64)
	if err != nil {
		return err
	}
	s, err := hoplite.Open(ctx, p.World(), mortalConfig())
	if err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(seed, 0)) // the same at all ranks
	victim := gaspi.Rank(rng.IntN(mortalRanks))
	moment := time.Duration(rng.Int64N(int64(lifeTime)))
	// A store of which a member dies before all have opened it does not open. A member that
	// learns of the death in the barrier knows that the victim left it, so all have opened.
	if err := p.Barrier(ctx, p.World()); err != nil && !errors.Is(err, gaspi.ErrRankDead) {
		return err
	}
	if p.Rank() == victim {
		time.AfterFunc(moment, func() {
			self, _ := os.FindProcess(os.Getpid())
			_ = self.Kill()
			select {} // the signal is on its way
		})
	}
	if err := callAtRandom(ctx, p, s, seed, dir); err != nil {
		return err
	}
	if p.Rank() == victim {
		select {} // it has called enough, and is killed any moment
	}
	if err := lastOrders(ctx, p, s, victim); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, fmt.Sprintf("done-%d", p.Rank())), nil, 0o600)
}

// callAtRandom makes calls from several goroutines for a while.
func callAtRandom(ctx context.Context, p *gaspi.Proc, s *hoplite.Store, seed uint64, dir string) error {
	rec, err := newRecorder(dir, int(p.Rank()))
	if err != nil {
		return err
	}
	defer rec.close()
	errs := make([]error, clients)
	var all sync.WaitGroup
	for i := range clients {
		all.Go(func() {
			c := &client{
				store: s, rec: rec, number: int(p.Rank())*clients + i,
				rng: rand.New(rand.NewPCG(seed, 1+uint64(p.Rank())<<8+uint64(i))),
			}
			for begin := time.Now(); time.Since(begin) < lifeTime && errs[i] == nil; {
				errs[i] = c.call(ctx)
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// lastOrders makes sure that the store works for those that are left.
func lastOrders(ctx context.Context, p *gaspi.Proc, s *hoplite.Store, victim gaspi.Rank) error {
	const n = 20_000
	// All random objects go first: a store that is full of pinned ones has no room.
	for _, id := range everyID() {
		if err := s.Delete(ctx, id); err != nil {
			return fmt.Errorf("in the end: %w", err)
		}
	}
	var ids []string
	want := make([]int64, n)
	caller := gaspi.Rank(-1)
	for r := range gaspi.Rank(p.Size()) {
		if r == victim {
			continue
		}
		caller = r
		ids = append(ids, name("final", int(r)))
		for i, x := range numbers(int(r)+1, n) {
			want[i] += x
		}
	}
	if err := hoplite.Put(ctx, s, name("final", int(p.Rank())), numbers(int(p.Rank())+1, n)); err != nil {
		return fmt.Errorf("in the end: %w", err)
	}
	if p.Rank() == caller {
		if _, err := hoplite.Reduce[int64](ctx, s, "final", ids, hoplite.Sum); err != nil {
			return fmt.Errorf("in the end: %w", err)
		}
	}
	got, err := hoplite.Get[int64](ctx, s, "final")
	if err == nil {
		err = same(got, want)
	}
	if err == nil {
		err = s.Close(ctx)
	}
	if err != nil {
		return fmt.Errorf("in the end: %w", err)
	}
	return nil
}
