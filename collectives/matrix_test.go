package collectives_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/ranktest"
)

// Environment variables of these tests.
const (
	envSeed = "GASPI_TEST_SEED" // repeats a sample
	envCase = "GASPI_TEST_CASE" // runs this instance of it alone
)

// small keeps a rank's share of memory and start-up time small.
var small = gaspi.Config{Segments: 64, Groups: 8, Notifications: 64, PassiveMax: 64, QueuesMax: 16, Spin: -1, Yield: -1}

// seedOf is the seed of a test, new each time unless the environment says one, and
// printed.
func seedOf(t *testing.T) uint64 {
	t.Helper()
	seed := rand.Uint64()
	if text := os.Getenv(envSeed); text != "" {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatalf("%s: %v", envSeed, err)
		}
		seed = n
	}
	t.Logf("%s=%d", envSeed, seed)
	return seed
}

// only is the instance that alone is to run, or -1.
func only(t *testing.T) int {
	t.Helper()
	text := os.Getenv(envCase)
	if text == "" {
		return -1
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", envCase, err)
	}
	return n
}

// A reporter collects what ranks found wrong, the first few of it.
type reporter struct {
	mu   sync.Mutex
	said int // guarded by mu
	log  func(error)
}

func (r *reporter) report(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.said++; r.said <= 20 {
		r.log(err)
	}
}

// TestMatrix runs a seeded sample of the matrix of algorithms, numbers of ranks,
// lengths, types, operations, places and modes, and compares every element; or all
// of the matrix, where GASPI_TEST_MATRIX is full.
func TestMatrix(t *testing.T) {
	if isFull(t) {
		fullMatrix(t)
		return
	}
	seed, one := seedOf(t), only(t)
	all := sample(seed, sizes(), testing.Short())
	if !testing.Short() {
		cover(t, all, sizes())
	}
	t.Logf("%d instances", len(all))
	for _, ranks := range sizes() {
		if testing.Short() && ranks > 17 {
			break // under the race detector, on two cores that others use too, these take minutes
		}
		t.Run(strconv.Itoa(ranks)+"ranks", func(t *testing.T) {
			instances(t, ranks, collectives.Config{}, func(m *member, run func(int, *instance) error) error {
				for i, x := range all {
					if x.ranks != ranks || one >= 0 && one != i {
						continue
					}
					if err := run(i, x); err != nil {
						return err
					}
				}
				return nil
			})
		})
	}
}

// instances has main run instances on a team of all ranks of a job in this process.
// run takes the number that is printed with an error.
func instances(t *testing.T, ranks int, cfg collectives.Config, main func(m *member, run func(int, *instance) error) error) {
	t.Helper()
	reports := &reporter{log: func(err error) { t.Error(err) }}
	ranktest.Local(t, ranks, small, func(ctx context.Context, p *gaspi.Proc) error {
		m, err := newMember(ctx, p.World(), cfg)
		if err != nil {
			return err
		}
		err = main(m, func(i int, x *instance) error {
			if err := m.run(ctx, x, func(err error) { reports.report(withCase(i, err)) }); err != nil {
				return withCase(i, err)
			}
			return nil
		})
		if err != nil {
			return err
		}
		return m.close(ctx)
	})
}

// each runs instances on a team of ranks, one after the other.
func each(t *testing.T, ranks int, cfg collectives.Config, all []*instance) {
	t.Helper()
	instances(t, ranks, cfg, func(m *member, run func(int, *instance) error) error {
		for i, x := range all {
			if err := run(i, x); err != nil {
				return err
			}
		}
		return nil
	})
}

// withCase says how to run an instance again.
func withCase(i int, err error) error { return fmt.Errorf("%s=%d: %w", envCase, i, err) }
