package system

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/sys/thread"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

// TestSlownessHasACause has --net-stats say why ranks are slow: a link, a processor that other programs
// use, too, and a rank that computes for longer. No test runs beside it: other programs would use the first
// core, too.
func TestSlownessHasACause(t *testing.T) {
	s := newSite(t, 3)
	hosts := s.onHosts(s.List(1))
	for _, c := range []struct {
		name    string
		disturb func(t *testing.T)
		flags   []string
		work    []string // arguments of role work
		says    string
	}{
		{"computation", nil, hosts, []string{"8", "4000000", "12", "1024"}, `computation: rank 1 \(h2\) `},
		{"network", func(*testing.T) { s.Slow(s.Hosts()[0], s.Hosts()[1], "2mbit") }, hosts, []string{"12", "100", "1", "32768"},
			`the network: the link of rank 0 \(h1\) with rank 1 \(h2\) `},
		{"processor", s.hog, []string{"-n", "2", "--bind", "core", "--transport", "tcp"}, []string{"8", "10000000", "1", "1024"}, `the processor: rank 1 \(head\) `},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.disturb != nil {
				c.disturb(t)
			}
			j := s.play(t, testenv.AsRole("work", c.work...), append(c.flags, "--net-stats")...)
			if code := j.wait(); code != 0 || j.stderr.sentences("^gaspi-run: slow because of "+c.says) != 1 {
				t.Errorf("exit code %d, want 0 and that it is slow because of %s\n%v", code, c.says, j)
			}
		})
	}
}

// hog keeps the second core busy until the test ends.
func (s *site) hog(t *testing.T) {
	cores, err := thread.Cores()
	if err != nil {
		t.Fatal(err)
	}
	if len(cores) < 2 {
		t.Skip("there are fewer than two cores")
	}
	for range 8 {
		start(t, s.Head(), nil, "taskset", "-c", strconv.Itoa(cores[1]), "sh", "-c", "while :; do :; done")
	}
}

// playWork does steps: it computes a number of random numbers, in rank 1 a number of times, writes bytes to
// the next rank, and meets all others.
func playWork(ctx context.Context, p *gaspi.Proc, args []string) error {
	var numbers [4]int // steps, numbers, times, bytes
	for i, arg := range args {
		n, err := strconv.Atoi(arg)
		if err != nil {
			return err
		}
		numbers[i] = n
	}
	steps, work, bytes := numbers[0], numbers[1], uint64(numbers[3])
	if p.Rank() == 1 {
		work *= numbers[2]
	}
	seg, err := p.CreateSegment(ctx, 0, 2*bytes)
	if err != nil {
		return err
	}
	src, err := seg.Span(bytes, bytes)
	if err != nil {
		return err
	}
	next := gaspi.Remote{Rank: (p.Rank() + 1) % gaspi.Rank(p.Size()), Segment: 0}
	random := rand.New(rand.NewPCG(uint64(p.Rank()), 0))
	sum := uint64(0)
	for range steps {
		for range work {
			sum += random.Uint64()
		}
		if err := p.MustQueue(0).WriteNotify(next, src, gaspi.Notification{ID: 0, Value: 1}); err != nil {
			return err
		}
		if _, err := seg.WaitSome(ctx, 0, 1); err != nil {
			return err
		}
		if _, err := seg.Reset(0); err != nil {
			return err
		}
		if err := p.MustQueue(0).Wait(ctx); err != nil {
			return err
		}
		if err := p.Barrier(ctx, p.World()); err != nil {
			return err
		}
	}
	fmt.Println("sum", sum)
	return nil
}
