//go:build !race

package gaspi_test

import (
	"context"
	"errors"
	"runtime"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/ranktest"
	"github.com/gaspi-go/gaspi-go/launcher"
)

// TestProcessMemoryOfARankThatLeft has a rank leave while another one reads from its memory, as a member of a team does
// that has ended a call before the others, or has got an error in it. The reader finds what was there.
func TestProcessMemoryOfARankThatLeft(t *testing.T) {
	ranktest.Succeeds(t, launcher.Config{Ranks: 2, Transport: "shm"}, "left memory")
}

const leftData, leftMark = 0x5a, 8 // a byte, and where the owner says that it has closed

func playLeftMemory(ctx context.Context, p *gaspi.Proc) error {
	s := must(p.CreateSegment(ctx, 0, 1<<20))
	mine := s.Bytes()
	mine[0] = leftData
	theirs, mapped := s.Mapped(1-p.Rank(), 0, 1<<20)
	if !mapped {
		return errors.New("the other's memory is not mapped")
	}
	ok(p.Barrier(ctx, p.World()))
	if p.Rank() == 0 {
		err := p.Close()
		mine[leftMark] = 1 // its own mapping is still there
		runtime.KeepAlive(s)
		return err
	}
	for theirs.Bytes()[leftMark] == 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		runtime.Gosched()
	}
	if got := theirs.Bytes()[0]; got != leftData {
		return errors.New("the memory of a rank that has left reads as something else")
	}
	return nil
}
