//go:build !race

package gaspi_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/ranktest"
	"github.com/gaspi-go/gaspi-go/launcher"
)

// "The rank did not answer in that second": a process is stopped, calls to it end, and
// their outcome is known when it goes on.
func TestProcessThatIsStopped(t *testing.T) {
	t.Parallel()
	ranktest.Succeeds(t, launcher.Config{Ranks: 2, Transport: "tcp"}, "stopped")
}

func playStopped(ctx context.Context, p *gaspi.Proc) error {
	s := must(p.CreateSegment(ctx, 0, 64))
	if p.Rank() == 1 {
		must(p.Swap(ctx, s.At(0, 0), uint64(os.Getpid())))
		ok(p.Barrier(ctx, p.World()))
		ok(syscall.Kill(os.Getpid(), syscall.SIGSTOP))
		from, n, err := p.PassiveReceive(ctx, must(s.Span(32, 32)))
		if err != nil || string(s.Bytes()[32:32+n]) != "two" {
			return fmt.Errorf("got %q of rank %d, %v; want the message that was not withdrawn", s.Bytes()[32:32+n], from, err)
		}
		return p.Barrier(ctx, p.World())
	}
	must(p.FetchAdd(ctx, s.At(1, 8), 0))
	ok(p.Barrier(ctx, p.World()))
	pid := int(must(p.FetchAdd(ctx, s.At(0, 0), 0)))
	for !isStopped(pid) {
		ok(ctx.Err())
		time.Sleep(time.Millisecond) // sleep: the system tells the parent alone that a process was stopped
	}
	defer syscall.Kill(pid, syscall.SIGCONT) // also where this test fails
	limited, cancel := context.WithTimeout(ctx, time.Millisecond)
	defer cancel()
	var doubts [2]*gaspi.InDoubtError
	for i, v := range []uint64{5, 7} {
		_, err := p.FetchAdd(limited, s.At(1, 8), v)
		var is bool
		if doubts[i], is = errors.AsType[*gaspi.InDoubtError](err); !is || !errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("fetch_add at a rank that is stopped: %v, want the deadline, in doubt", err)
		}
		if _, err := doubts[i].Wait(ended()); !errors.Is(err, context.Canceled) {
			return fmt.Errorf("waiting for a rank that is stopped: %v, want the end of the context", err)
		}
	}
	copy(s.Bytes()[32:], "onetwo")
	if err := p.PassiveSend(limited, 1, must(s.Span(32, 3))); !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("passive_send to a rank that is stopped: %v, want the deadline", err)
	}
	ok(syscall.Kill(pid, syscall.SIGCONT))
	first, second := must(doubts[0].Wait(ctx)), must(doubts[1].Wait(ctx))
	if (first != 0 || second != 5) && (first != 7 || second != 0) {
		return fmt.Errorf("the outcomes are %d and %d", first, second)
	}
	if again := must(doubts[0].Wait(ctx)); again != first {
		return fmt.Errorf("the outcome was %d and is %d", first, again)
	}
	if sum := must(p.FetchAdd(ctx, s.At(1, 8), 0)); sum != 12 {
		return fmt.Errorf("the word is %d, want 12", sum)
	}
	ok(p.PassiveSend(ctx, 1, must(s.Span(35, 3))))
	return p.Barrier(ctx, p.World())
}

// isStopped reports whether the system shows process pid as stopped.
func isStopped(pid int) bool {
	stat := string(must(os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))))
	return strings.Contains(stat, ") T ")
}
