package threads

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/ranktest"
)

// envSeed sets the seed of these tests, to run one again.
const envSeed = "GASPI_THREADS_SEED"

// newSeed is the seed of a test, which it prints.
func newSeed(t *testing.T) uint64 {
	seed := rand.Uint64()
	if text := os.Getenv(envSeed); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%s=%d", envSeed, seed)
	return seed
}

var config = gaspi.Config{Segments: 256, Groups: 64, Notifications: 64, PassiveMax: 64, QueuesMax: 256}

// TestThreads plays with ranks that are goroutines themselves, whose memory the race
// detector understands, and over TCP.
func TestThreads(t *testing.T) {
	for _, transport := range []string{"loopback", "tcp"} {
		for _, n := range []int{2, 3, 5} {
			t.Run(fmt.Sprintf("%s %d", transport, n), func(t *testing.T) {
				seed := newSeed(t)
				cfg := config
				cfg.Transport = transport
				ranktest.Local(t, n, cfg, func(ctx context.Context, p *gaspi.Proc) error {
					return play(ctx, p, seed, 6, 25)
				})
			})
		}
	}
}
