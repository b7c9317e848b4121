package torture

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"strings"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// holdings is what a rank holds, and the same before and after a round.
type holdings struct {
	groups int
	others string
}

func (h holdings) String() string { return fmt.Sprintf("%d groups, %s", h.groups, h.others) }

// holdingsOf returns what a rank holds.
func holdingsOf(p *gaspi.Proc) holdings {
	return holdings{len(p.Groups()), fmt.Sprintf("queues %v, segments %v", p.Queues(), p.Segments())}
}

// keptGroups is how many groups a Split that ended early keeps for ever at most: others may
// still write to their slots.
const keptGroups = 4

// watch returns a context that ends when a round has taken too long. All stacks are
// written just before; if the round goes on all the same, the process ends.
func watch(ctx context.Context, limit time.Duration, what string) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	var kill *time.Timer
	bark := time.AfterFunc(limit, func() {
		fmt.Fprintf(os.Stderr, "%s: has not ended after %v; its stacks:\n", what, limit)
		pprof.Lookup("goroutine").WriteTo(os.Stderr, 2)
		cancel(fmt.Errorf("the round has not ended after %v", limit))
	})
	kill = time.AfterFunc(limit+limit/4+10*time.Second, func() {
		fmt.Fprintf(os.Stderr, "%s: does not heed its context\n", what)
		os.Exit(3)
	})
	return ctx, func() {
		bark.Stop()
		kill.Stop()
		cancel(nil)
	}
}

// A Census is what a process has that a job must give back.
type Census struct {
	Goroutines, Files int
}

// Count takes a census. The descriptors by which the Go runtime waits for others are there
// from the first pipe on.
func Count() (Census, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return Census{}, err
	}
	if err := errors.Join(r.Close(), w.Close()); err != nil {
		return Census{}, err
	}
	files, err := os.ReadDir("/proc/self/fd")
	return Census{runtime.NumGoroutine(), len(files)}, err
}

// Compare returns an error if the process has more than before. Goroutines and
// descriptors that end with a job may take a moment.
func (before Census) Compare() error {
	const patience = 10 * time.Second
	for begin := time.Now(); ; {
		now, err := Count()
		if err != nil {
			return err
		}
		if now.Goroutines <= before.Goroutines && now.Files <= before.Files {
			return nil
		}
		if time.Since(begin) > patience {
			var stacks strings.Builder
			pprof.Lookup("goroutine").WriteTo(&stacks, 1)
			return fmt.Errorf("after Close there are %d goroutines and %d descriptors, before Init %d and %d\n%s",
				now.Goroutines, now.Files, before.Goroutines, before.Files, &stacks)
		}
		runtime.GC()                      // descriptors of mappings go with what held them
		time.Sleep(10 * time.Millisecond) // sleep: nothing tells of the end of a goroutine
	}
}

// maxMiB bounds the memory of a process at its peak: what the largest round may take,
// several times over. Of a process with more than four ranks, each has rankMiB.
const (
	maxMiB  = 4096
	rankMiB = 1024
)

// checkSize returns the peak of the memory of this process, of which so many ranks are goroutines.
func checkSize(ranks int) (uint64, error) {
	most := uint64(max(maxMiB, ranks*rankMiB))
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	var kib uint64
	if _, err := fmt.Sscan(rest, &kib); err != nil {
		return 0, fmt.Errorf("VmHWM of /proc/self/status: %w", err)
	}
	if kib>>10 > most {
		return kib >> 10, fmt.Errorf("the process had %d MiB of memory at its peak, more than %d", kib>>10, most)
	}
	return kib >> 10, nil
}
