package gaspi_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/ranktest"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

// Tests whose names begin with TestGASPI are named after rows of docs/GASPI.md. These are of
// conventions, configuration and state, for rows that no other test has.

// wanted holds calls that are refused, each with its error.
type wanted struct {
	name string
	err  error
	want error
}

// refused reports calls that have ended otherwise.
func refused(t *testing.T, calls ...wanted) {
	t.Helper()
	for _, c := range calls {
		if !errors.Is(c.err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, c.err, c.want)
		}
	}
}

// Rank 0 waits without a limit, until all other ranks have waited for as long as any limit is.
func TestGASPIBlockWaitsForTheNotification(t *testing.T) {
	bubble(t, 2, func(ctx context.Context, p *gaspi.Proc) error {
		s := must(p.CreateSegment(ctx, 0, 8))
		if p.Rank() == 1 {
			quiet(ctx)
			tell(p, s, 0, 3)
		} else if v := await(context.Background(), s, 3); v != 1 {
			return fmt.Errorf("notification %d, want 1", v)
		}
		return p.Barrier(ctx, p.World())
	})
}

// A process that may open no further file gets no memory file for a segment.
func TestGASPIErrEmfileIsTheSystemsError(t *testing.T) {
	p := must(gaspi.Init(t.Context(), gaspi.Config{Transport: "shm"}))
	defer p.Close()
	var before syscall.Rlimit
	ok(syscall.Getrlimit(syscall.RLIMIT_NOFILE, &before))
	none := before
	none.Cur = 0
	ok(syscall.Setrlimit(syscall.RLIMIT_NOFILE, &none))
	_, err := p.AllocSegment(0, 8)
	ok(syscall.Setrlimit(syscall.RLIMIT_NOFILE, &before))
	refused(t, wanted{"a segment without descriptors", err, syscall.EMFILE})
}

func TestGASPIErrInitedBySecondInit(t *testing.T) {
	joins(t, 1)
	p := must(gaspi.Init(t.Context(), gaspi.Config{}))
	defer p.Close()
	if p.Size() != 1 || p.Rank() != 0 {
		t.Errorf("rank %d of %d", p.Rank(), p.Size())
	}
	if _, err := gaspi.Init(t.Context(), gaspi.Config{}); err == nil || !strings.Contains(err.Error(), "not set although") {
		t.Errorf("a second Init: %v, want to read that variables are gone", err)
	}
}

// joins sets the variables by which rank 0 of a job without a launcher joins it.
func joins(t *testing.T, size int) {
	t.Helper()
	t.Setenv("GASPI_RANK", "0")
	t.Setenv("GASPI_SIZE", fmt.Sprint(size))
	t.Setenv("GASPI_RENDEZVOUS", testenv.FreeAddress(t))
	t.Setenv("GASPI_KEY", fmt.Sprintf("%064x", 7))
}

// Init of a rank that waits for another one ends with its context, and the process cannot join
// again.
func TestGASPIDifference14InitIsNotResumed(t *testing.T) {
	joins(t, 2)
	if _, err := gaspi.Init(ended(), gaspi.Config{}); !errors.Is(err, context.Canceled) {
		t.Errorf("Init with a context that has ended: %v, want %v", err, context.Canceled)
	}
	if _, err := gaspi.Init(t.Context(), gaspi.Config{}); err == nil || !strings.Contains(err.Error(), "not set although") {
		t.Errorf("Init again: %v, want to read that variables are gone", err)
	}
}

func TestGASPIErrInvSeg(t *testing.T) {
	cfg := small
	cfg.Segments = 2
	ranktest.Local(t, 1, cfg, func(ctx context.Context, p *gaspi.Proc) error {
		s := must(p.AllocSegment(0, 8))
		src := must(s.Span(0, 8))
		refused(t,
			wanted{"write to a segment that is not there", p.MustQueue(0).Write(gaspi.Remote{Segment: 1}, src), gaspi.ErrNoSegment},
			wanted{"write to one that is not registered", p.MustQueue(0).Write(s.At(0, 0), src), gaspi.ErrNoSegment},
			wanted{"an id beyond Config.Segments", second(p.AllocSegment(2, 8)), gaspi.ErrNoSegment},
			wanted{"an id that is taken", second(p.AllocSegment(0, 8)), gaspi.ErrInUse})
		must(p.AllocSegment(1, 8))
		refused(t, wanted{"a free id when all are taken", second(p.FreeSegmentID(0)), gaspi.ErrTooMany})
		return nil
	})
}

func TestGASPIErrInvSegsize(t *testing.T) {
	ranktest.Local(t, 1, small, func(ctx context.Context, p *gaspi.Proc) error {
		for size, limit := range map[uint64]string{0: "at least 1", 1<<46 + 1: fmt.Sprint(uint64(1) << 46), 1<<64 - 1: fmt.Sprint(uint64(1) << 46)} {
			if _, err := p.AllocSegment(0, size); err == nil || !strings.Contains(err.Error(), limit) {
				t.Errorf("a segment of %d bytes: %v, want an error with the limit %s", size, err, limit)
			}
		}
		return nil
	})
}

func TestGASPIErrInvGroup(t *testing.T) {
	ranktest.Local(t, 1, small, func(ctx context.Context, p *gaspi.Proc) error {
		g := must(p.NewGroup(0))
		if err := p.Barrier(ctx, g); err == nil || !strings.Contains(err.Error(), "call Commit on every member first") {
			t.Errorf("a barrier of a group that is not committed: %v", err)
		}
		ok(g.Delete())
		refused(t, wanted{"commit after delete", g.Commit(ctx), gaspi.ErrClosed}, wanted{"barrier after delete", p.Barrier(ctx, g), gaspi.ErrClosed})
		for len(p.Groups()) < small.Groups {
			must(p.NewGroup())
		}
		refused(t, wanted{"one group more than Config.Groups", second(p.NewGroup()), gaspi.ErrTooMany})
		return nil
	})
}

func TestGASPIErrInvRank(t *testing.T) {
	ranktest.Local(t, 1, small, func(ctx context.Context, p *gaspi.Proc) error {
		s := must(p.CreateSegment(ctx, 0, 8))
		src := must(s.Span(0, 8))
		for _, r := range []gaspi.Rank{-1, 1, 1 << 30} {
			refused(t,
				wanted{"write", p.MustQueue(0).Write(s.At(r, 0), src), gaspi.ErrBadRank},
				wanted{"flush", p.MustQueue(0).Flush(ctx, r), gaspi.ErrBadRank},
				wanted{"passive send", p.PassiveSend(ctx, r, src), gaspi.ErrBadRank},
				wanted{"ping", p.Ping(ctx, r), gaspi.ErrBadRank},
				wanted{"atomic", second(p.FetchAdd(ctx, s.At(r, 0), 1)), gaspi.ErrBadRank},
				wanted{"group", second(p.NewGroup(r)), gaspi.ErrBadRank})
		}
		refused(t, wanted{"a member twice", must(p.NewGroup(0)).Add(0), gaspi.ErrInUse})
		return nil
	})
}

func TestGASPIErrInvQueue(t *testing.T) {
	ranktest.Local(t, 1, small, func(ctx context.Context, p *gaspi.Proc) error {
		for _, n := range []int{-1, 8, 1 << 40} {
			if q, err := p.Queue(n); err == nil {
				t.Errorf("there is a queue %d: %v", n, q)
			}
		}
		q := must(p.CreateQueue())
		ok(q.Delete())
		refused(t, wanted{"wait after delete", q.Wait(ctx), gaspi.ErrClosed}, wanted{"delete again", q.Delete(), gaspi.ErrClosed})
		return nil
	})
}

func TestGASPIDifference12MustQueuePanics(t *testing.T) {
	ranktest.Local(t, 1, small, func(ctx context.Context, p *gaspi.Proc) error {
		defer func() {
			if recover() == nil {
				t.Error("MustQueue(8) of 8 queues has returned")
			}
		}()
		p.MustQueue(8)
		return nil
	})
}

func TestGASPIErrInvCommsize(t *testing.T) {
	cfg := small
	cfg.TransferMax, cfg.PassiveMax = 16, 16
	ranktest.Local(t, 1, cfg, func(ctx context.Context, p *gaspi.Proc) error {
		s := must(p.CreateSegment(ctx, 0, 64))
		src, x := must(s.Span(0, 17)), make([]float64, 256)
		refused(t,
			wanted{"write", p.MustQueue(0).Write(s.At(0, 32), src), gaspi.ErrTooLarge},
			wanted{"read", p.MustQueue(0).Read(src, s.At(0, 32)), gaspi.ErrTooLarge},
			wanted{"passive send", p.PassiveSend(ctx, 0, src), gaspi.ErrTooLarge},
			wanted{"list", p.MustQueue(0).WriteList(make([]gaspi.Transfer, 256)), gaspi.ErrTooLarge},
			wanted{"allreduce", gaspi.AllReduce(ctx, p.World(), x, x, gaspi.Sum), gaspi.ErrTooLarge})
		return nil
	})
}

func TestGASPIErrInvNotifVal(t *testing.T) {
	ranktest.Local(t, 1, small, func(ctx context.Context, p *gaspi.Proc) error {
		s := must(p.CreateSegment(ctx, 0, 64))
		q := p.MustQueue(0)
		refused(t,
			wanted{"value 0", q.Notify(s.At(0, 0), gaspi.Notification{ID: 1}), gaspi.ErrZeroValue},
			wanted{"id 64 of 64", q.Notify(s.At(0, 0), gaspi.Notification{ID: 64, Value: 1}), gaspi.ErrNoNotification},
			wanted{"wait for id 64", second(s.WaitSome(ctx, 64, 1)), gaspi.ErrNoNotification},
			wanted{"atomic at byte 4", second(p.FetchAdd(ctx, s.At(0, 4), 1)), gaspi.ErrUnaligned})
		return nil
	})
}

// One default each, and a value of the program in its place.
func TestGASPISegmentMaxAndQueueSizeMax(t *testing.T) {
	ranktest.Local(t, 1, gaspi.Config{}, func(ctx context.Context, p *gaspi.Proc) error {
		if cfg := p.Config(); cfg.Segments != 1024 || cfg.QueueDepth != 1024 || p.MustQueue(0).Depth() != 1024 {
			t.Errorf("Segments %d, QueueDepth %d", cfg.Segments, cfg.QueueDepth)
		}
		must(p.AllocSegment(1023, 8))
		refused(t, wanted{"id 1024", second(p.AllocSegment(1024, 8)), gaspi.ErrNoSegment})
		return nil
	})
	ranktest.Local(t, 1, gaspi.Config{Segments: 2, QueueDepth: 5}, func(ctx context.Context, p *gaspi.Proc) error {
		refused(t, wanted{"id 2 of 2", second(p.AllocSegment(2, 8)), gaspi.ErrNoSegment})
		if d := p.MustQueue(0).Depth(); d != 5 {
			t.Errorf("a queue of depth 5 has %d", d)
		}
		return nil
	})
}

func TestGASPIQueueNum(t *testing.T) {
	ranktest.Local(t, 1, small, func(ctx context.Context, p *gaspi.Proc) error {
		for n := 8; n < 64; n++ {
			if got := len(p.Queues()); got != n {
				t.Fatalf("%d queues, want %d", got, n)
			}
			must(p.CreateQueue())
		}
		refused(t, wanted{"queue 65", second(p.CreateQueue()), gaspi.ErrTooMany})
		return nil
	})
}

func TestGASPINetworkOfEachPeer(t *testing.T) {
	ranktest.Local(t, 2, small, func(ctx context.Context, p *gaspi.Proc) error {
		if way := must(p.Transport(1 - p.Rank())); way != "loopback" {
			t.Errorf("goroutines are connected by %s", way)
		}
		return nil
	})
	p := must(gaspi.Init(t.Context(), gaspi.Config{Transport: "tcp"}))
	defer p.Close()
	if got := p.Config().Transport; got != "tcp" {
		t.Errorf("Config.Transport is %q", got)
	}
}

func TestGASPIRwListElemMax(t *testing.T) {
	for _, most := range []int{0, 2} {
		cfg := small
		cfg.ListMax = most
		ranktest.Local(t, 1, cfg, func(ctx context.Context, p *gaspi.Proc) error {
			must(p.CreateSegment(ctx, 0, 8))
			list := make([]gaspi.Transfer, p.Config().ListMax+1) // of nothing, to the own rank
			if most != 0 && p.Config().ListMax != most || most == 0 && p.Config().ListMax != 255 {
				t.Errorf("Config.ListMax is %d", p.Config().ListMax)
			}
			refused(t, wanted{"one entry too many", p.MustQueue(0).WriteList(list), gaspi.ErrTooLarge})
			return p.MustQueue(0).WriteList(list[1:])
		})
	}
}

func TestGASPIVersion(t *testing.T) {
	if gaspi.StandardVersion != "17.1" || strings.Count(gaspi.Version, ".") != 2 {
		t.Errorf("version %q of standard %q", gaspi.Version, gaspi.StandardVersion)
	}
}

func TestGASPIPrintErrorSaysWhere(t *testing.T) {
	ranktest.Local(t, 1, small, func(ctx context.Context, p *gaspi.Proc) error {
		s := must(p.CreateSegment(ctx, 0, 64))
		err := p.MustQueue(0).Write(s.At(0, 60), must(s.Span(0, 8)))
		if err == nil || !strings.HasPrefix(err.Error(), "gaspi: write to rank 0 segment 0 [60:+8]: out of range") {
			t.Errorf("got %v", err)
		}
		return nil
	})
}

func TestGASPIProcNum(t *testing.T) {
	ranktest.Local(t, 3, small, func(ctx context.Context, p *gaspi.Proc) error {
		if p.Size() != 3 || p.LocalSize() != 3 || p.LocalRank() != int(p.Rank()) {
			t.Errorf("rank %d of %d, local %d of %d", p.Rank(), p.Size(), p.LocalRank(), p.LocalSize())
		}
		x := []int32{1 << p.Rank()}
		ok(gaspi.AllReduce(ctx, p.World(), x, x, gaspi.Sum))
		if x[0] != 7 {
			t.Errorf("the ranks are %b", x[0])
		}
		return nil
	})
}

// Rank 1 makes no call while it is pinged, and leaves then.
func TestGASPIProcPing(t *testing.T) {
	bubble(t, 2, func(ctx context.Context, p *gaspi.Proc) error {
		if p.Rank() == 1 {
			quiet(ctx)
			return nil
		}
		ok(p.Ping(ctx, 1))
		quiet(ctx)
		quiet(ctx)
		if err := p.Ping(ctx, 1); !names(err, 1) || p.Health(1) != gaspi.Corrupt {
			t.Errorf("ping of a rank that is gone: %v, %v", err, p.Health(1))
		}
		return nil
	})
}

func TestGASPISegmentAvailLocal(t *testing.T) {
	ranktest.Local(t, 1, small, func(ctx context.Context, p *gaspi.Proc) error {
		for _, id := range []gaspi.SegmentID{0, 1, 3} {
			must(p.AllocSegment(id, 8))
		}
		for first, want := range map[gaspi.SegmentID]gaspi.SegmentID{0: 2, 2: 2, 3: 4, 7: 7} {
			if id := must(p.FreeSegmentID(first)); id != want {
				t.Errorf("the free id from %d on is %d, want %d", first, id, want)
			}
		}
		return nil
	})
}
