package gaspi_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/ranktest"
)

// small keeps the system segments of many ranks in one process small.
var small = gaspi.Config{Segments: 8, Groups: 8, Notifications: 64, PassiveMax: 256, KeepGoing: true}

func TestGASPIDifference3RingWithoutConnect(t *testing.T) {
	for _, n := range []int{1, 2, 3, 8, 17, 33} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			ranktest.Local(t, n, small, func(ctx context.Context, p *gaspi.Proc) error {
				seg, err := p.CreateSegment(ctx, 0, 16)
				if err != nil {
					return err
				}
				next := (p.Rank() + 1) % gaspi.Rank(n)
				words, err := gaspi.View[uint64](seg, 0, 2)
				if err != nil {
					return err
				}
				words[0] = uint64(p.Rank()) + 100
				src, err := seg.Span(0, 8)
				if err != nil {
					return err
				}
				if err := p.MustQueue(0).WriteNotify(seg.At(next, 8), src, gaspi.Notification{ID: 3, Value: 9}); err != nil {
					return err
				}
				id, err := seg.WaitSome(ctx, 0, 8)
				if err != nil {
					return err
				}
				v, err := seg.Reset(id)
				if err != nil || id != 3 || v != 9 {
					return fmt.Errorf("notification %d value %d, %v; want 3, 9", id, v, err)
				}
				prev := uint64(int(p.Rank())+n-1) % uint64(n)
				if words[1] != prev+100 {
					return fmt.Errorf("got %d, want %d", words[1], prev+100)
				}
				return p.Barrier(ctx, p.World())
			})
		})
	}
}

func TestAllReduceSameEverywhere(t *testing.T) {
	for _, n := range []int{1, 2, 3, 5, 16, 17, 18, 40} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			ranktest.Local(t, n, small, func(ctx context.Context, p *gaspi.Proc) error {
				for round := range 5 {
					send := []int64{int64(p.Rank()) + int64(round), -int64(p.Rank())}
					recv := make([]int64, 2)
					if err := gaspi.AllReduce(ctx, p.World(), send, recv, gaspi.Sum); err != nil {
						return err
					}
					tri := int64(n * (n - 1) / 2)
					if recv[0] != tri+int64(n*round) || recv[1] != -tri {
						return fmt.Errorf("round %d: got %v", round, recv)
					}
				}
				return nil
			})
		})
	}
}

func TestAllReduceMismatchNamesBothCalls(t *testing.T) {
	err := gaspi.Local(t.Context(), 3, small, func(ctx context.Context, p *gaspi.Proc) error {
		if p.Rank() == 2 {
			x := []float64{1}
			return gaspi.AllReduce(ctx, p.World(), x, x, gaspi.Max)
		}
		x := []int32{1, 2}
		return gaspi.AllReduce(ctx, p.World(), x, x, gaspi.Sum)
	})
	if !errors.Is(err, gaspi.ErrMismatch) {
		t.Fatalf("got %v, want ErrMismatch", err)
	}
	t.Log(err)
}

func TestGASPIGroupRanksAreTheGroupsOwn(t *testing.T) {
	ranktest.Local(t, 6, small, func(ctx context.Context, p *gaspi.Proc) error {
		var odd []gaspi.Rank
		for r := range gaspi.Rank(6) {
			if r%2 == p.Rank()%2 {
				odd = append(odd, r)
			}
		}
		if p.Rank() == 3 { // numbers of groups differ between members
			if _, err := p.NewGroup(); err != nil {
				return err
			}
		}
		g, err := p.NewGroup(odd...)
		if err != nil {
			return err
		}
		if err := g.Commit(ctx); err != nil {
			return err
		}
		for range 20 {
			if err := p.Barrier(ctx, g); err != nil {
				return err
			}
			x := []int32{int32(p.Rank())}
			if err := gaspi.AllReduce(ctx, g, x, x, gaspi.Sum); err != nil {
				return err
			}
			if want := int32(6 + 3*(p.Rank()%2)); x[0] != want {
				return fmt.Errorf("sum %d, want %d", x[0], want)
			}
		}
		return nil
	})
}

func TestGASPIPassiveReceive(t *testing.T) {
	ranktest.Local(t, 4, small, func(ctx context.Context, p *gaspi.Proc) error {
		seg, err := p.AllocSegment(1, 64)
		if err != nil {
			return err
		}
		if p.Rank() > 0 {
			seg.Bytes()[0] = byte(p.Rank())
			src, _ := seg.Span(0, 1)
			for range 10 {
				if err := p.PassiveSend(ctx, 0, src); err != nil {
					return err
				}
			}
			return nil
		}
		dst, _ := seg.Span(8, 8)
		var count [4]int
		for range 30 {
			from, n, err := p.PassiveReceive(ctx, dst)
			if err != nil {
				return err
			}
			if n != 1 || seg.Bytes()[8] != byte(from) {
				return fmt.Errorf("from %d: %d bytes, %d", from, n, seg.Bytes()[8])
			}
			count[from]++
		}
		if count != [4]int{0, 10, 10, 10} {
			return fmt.Errorf("counts %v", count)
		}
		return nil
	})
}

func TestGASPIErrRankDeadNamesTheRank(t *testing.T) {
	var names [3]error
	var both sync.WaitGroup // who ends could be named instead
	both.Add(2)
	err := gaspi.Local(t.Context(), 3, small, func(ctx context.Context, p *gaspi.Proc) error {
		if p.Rank() == 1 {
			return errors.New("out of luck")
		}
		names[p.Rank()] = p.Barrier(ctx, p.World())
		both.Done()
		both.Wait()
		return nil
	})
	if err == nil || !errors.Is(names[0], gaspi.ErrRankDead) || !errors.Is(names[2], gaspi.ErrRankDead) {
		t.Fatalf("job: %v; rank 0: %v; rank 2: %v", err, names[0], names[2])
	}
	var dead *gaspi.RankError
	if !errors.As(names[0], &dead) || dead.Rank != 1 {
		t.Fatalf("rank 0: %v names no rank 1", names[0])
	}
	t.Log(names[0])
}

// The error of a job is that of the rank that failed, and not that of another one that wrote to it
// while it gave up its memory.
func TestJobEndsWithTheFirstError(t *testing.T) {
	t.Parallel()
	for _, transport := range []string{"loopback", "tcp"} {
		t.Run(transport, func(t *testing.T) {
			cfg := gaspi.Config{Transport: transport, Segments: 64, Groups: 8, Notifications: 64, PassiveMax: 256}
			for range 50 {
				err := gaspi.Local(t.Context(), 2, cfg, func(ctx context.Context, p *gaspi.Proc) error {
					var last *gaspi.Segment // which is given up last
					for id := range gaspi.SegmentID(32) {
						var err error
						if last, err = p.CreateSegment(ctx, id, 8); err != nil {
							return err
						}
					}
					if p.Rank() == 1 {
						return errors.New("out of luck")
					}
					for q := p.MustQueue(0); ; {
						err := q.WriteNotify(last.At(1, 0), must(last.Span(0, 8)), gaspi.Notification{ID: 1, Value: 1})
						if err == nil || errors.Is(err, gaspi.ErrQueueFull) {
							err = q.Wait(ctx)
						}
						if err != nil {
							return err
						}
					}
				})
				if err == nil || err.Error() != "rank 1: out of luck" {
					t.Fatalf("the job ended with %v", err)
				}
			}
		})
	}
}

// A thousand ranks fit into one process.
func TestThousandRanks(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second of all cores")
	}
	const n = 1024
	cfg := gaspi.Config{Segments: 4, Groups: 2, Notifications: 64, AllReduceElements: 4, PassiveMax: 64, Queues: 1, QueuesMax: 2}
	err := gaspi.Local(t.Context(), n, cfg, func(ctx context.Context, p *gaspi.Proc) error {
		s, err := p.CreateSegment(ctx, 0, 16)
		if err != nil {
			return err
		}
		next := (p.Rank() + 1) % n
		if err := p.MustQueue(0).WriteNotify(s.At(next, 0), must(s.Span(8, 8)), gaspi.Notification{ID: 1, Value: gaspi.Value(p.Rank()) + 1}); err != nil {
			return err
		}
		if err := s.WaitUntil(ctx, 1, gaspi.Equal, gaspi.Value((p.Rank()+n-1)%n)+1); err != nil {
			return err
		}
		sum := []int64{int64(p.Rank())}
		if err := gaspi.AllReduce(ctx, p.World(), sum, sum, gaspi.Sum); err != nil {
			return err
		}
		if sum[0] != n*(n-1)/2 {
			return fmt.Errorf("the sum of all ranks is %d", sum[0])
		}
		return p.Barrier(ctx, p.World())
	})
	if err != nil {
		t.Error(err)
	}
}
