//go:build rdma

package verbs

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m, map[string]testenv.Role{"puts": putAndDie}) }

// playLimit is what no rank comes near, unless it hangs.
const playLimit = 2 * time.Minute

// putAndDie is the role of a rank of three. Everybody puts all the time into the segment
// of rank 2, the victim, and the victim into those of the others; once puts have
// come from both, it kills itself at a random moment. The others want an error that
// names it, and end well. The argument is the seed of the moment.
func putAndDie(ctx context.Context, args []string) error {
	ctx, cancel := context.WithTimeout(ctx, playLimit)
	defer cancel()
	p, err := gaspi.Init(ctx, gaspi.Config{PassiveMax: 256})
	if err != nil {
		return err
	}
	seg, err := p.CreateSegment(ctx, 0, 4*putSize)
	if err != nil {
		return err
	}
	if p.Rank() == victim {
		if err := killSoon(ctx, seg, args[0]); err != nil {
			return err
		}
	}
	err = putForEver(ctx, p, seg)
	if gone, is := errors.AsType[*gaspi.RankError](err); !is || gone.Rank != victim {
		return fmt.Errorf("put: %w, want an error that names rank %d", err, victim)
	}
	fmt.Println("named", time.Now().UnixNano())
	if err := seg.Delete(); err != nil {
		return err
	}
	if err := p.Close(); err != nil {
		return err
	}
	fmt.Println("closed")
	return nil
}

const (
	victim  = 2
	putSize = 256 << 10 // bytes, and no whole number of what a card sends at once
)

// putForEver puts to the victim, or as the victim to both others, until that fails.
func putForEver(ctx context.Context, p *gaspi.Proc, seg *gaspi.Segment) error {
	src, err := seg.Span(0, putSize)
	if err != nil {
		return err
	}
	targets := []gaspi.Rank{victim}
	if p.Rank() == victim {
		targets = []gaspi.Rank{0, 1}
	}
	q := p.MustQueue(0)
	place := uint64(1+p.Rank()) * putSize
	for round := gaspi.Value(1); ; round++ {
		for _, r := range targets {
			if err := q.WriteNotify(seg.At(r, place), src, gaspi.Notification{ID: gaspi.NotificationID(p.Rank()), Value: round}); err != nil {
				return err
			}
		}
		if round%3 == 0 { // several are under way at a time
			if err := q.Wait(ctx); err != nil {
				return err
			}
		}
	}
}

// killSoon kills this process at a random moment after puts of both others have
// come. It returns at once, with an error if the seed makes no sense.
func killSoon(ctx context.Context, seg *gaspi.Segment, text string) error {
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return err
	}
	wait := time.Duration(rand.New(rand.NewPCG(seed, 0)).IntN(300)) * time.Millisecond
	go func() {
		if err := seg.WaitAll(ctx, 0, 2); err != nil {
			fmt.Println(err)
			return
		}
		time.Sleep(wait) // sleep: the moment of the kill
		fmt.Println("killed", time.Now().UnixNano())
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}()
	return nil
}
