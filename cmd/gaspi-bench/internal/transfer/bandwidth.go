package transfer

import (
	"context"
	"errors"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/limit"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/measure"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/report"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/segment"
)

// Bandwidth measures writes in a row.
func Bandwidth() measure.Benchmark {
	return measure.Benchmark{
		Name: "bandwidth",
		About: `writes from rank 0 into the memory of rank 1: "bandwidth" in windows
that end with a notification which rank 1 answers, "put" without anybody
looking. Limit: plain copies between the same two mappings; for "bandwidth"
with a bare flag each way at the end of the window. Over tcp: the same bytes over
one connection whose ends look without sleeping, and no "put".`,
		MinRanks: 2,
		Sizes:    []uint64{4 << 10, 64 << 10, 1 << 20, 16 << 20},
		Prepare:  prepareBandwidth,
	}
}

// window is how many writes go before the receiver answers: as many as make
// its answer small beside them, within bounds.
func window(size uint64) int { return int(min(max(windowBytes/size, minWindow), maxWindow)) }

const (
	windowBytes = 4 << 20
	minWindow   = 4 // the receiver of a large write sleeps, and its wake-up counts
	maxWindow   = 64
)

func prepareBandwidth(ctx context.Context, b *measure.Bench, size uint64) ([]measure.Workload, error) {
	win := window(size)
	seen := measure.Workload{Subject: report.Subject{Op: "bandwidth", Bytes: size, Moves: true}, Timed: b.P.Rank() == 0, Steps: win}
	put := measure.Workload{Subject: report.Subject{Op: "put", Bytes: size, Moves: true}, Timed: b.P.Rank() == 0, Steps: win}
	peer, part := b.Peer()
	near, err := b.Nearby(ctx, peer, part)
	if err != nil {
		return nil, err
	}
	if !part {
		seen.Contenders = measure.Beside(measure.Idle, measure.Idle)
		put.Contenders = seen.Contenders
		switch {
		case near:
			return []measure.Workload{seen, put}, nil
		case !b.Wired():
			seen.Contenders = seen.Contenders[:1]
		}
		return []measure.Workload{seen}, nil
	}
	m, err := NewMail(b, peer, size, near)
	if err != nil {
		return nil, err
	}
	s := &stream{Mail: m, window: win}
	if !near {
		return prepareWired(ctx, s, seen, peer)
	}
	if b.P.Rank() == 0 {
		seen.Contenders = measure.Beside(s.sender(ctx), s.bareSender(ctx))
		put.Contenders = measure.Beside(s.writer(ctx), s.copier())
	} else {
		seen.Contenders = measure.Beside(s.receiver(ctx), s.bareReceiver(ctx))
		put.Contenders = measure.Beside(measure.Idle, measure.Idle)
	}
	return []measure.Workload{seen, put}, nil
}

// prepareWired is prepareBandwidth for ranks that do not share memory. How fast a
// put is that nobody looks at depends on how much the system keeps, so it is left
// out.
func prepareWired(ctx context.Context, s *stream, seen measure.Workload, peer gaspi.Rank) ([]measure.Workload, error) {
	mine := s.receiver(ctx)
	if s.first {
		mine = s.sender(ctx)
	}
	seen.Contenders = []measure.Contender{{Impl: report.ImplGaspi, Batch: mine}}
	if !s.b.Wired() {
		return []measure.Workload{seen}, nil
	}
	w, err := s.b.Connect(ctx, peer)
	if err != nil {
		return nil, err
	}
	limit := wiredMail{Mail: s.Mail, SocketPair: w}
	bare := limit.receiver(ctx, s.window)
	if s.first {
		bare = limit.sender(ctx, s.window)
	}
	seen.Contenders = append(seen.Contenders, measure.Contender{Impl: report.ImplLimit, Batch: bare})
	return []measure.Workload{seen}, nil
}

// stream is one end of a series of writes.
type stream struct {
	*Mail
	window int
}

// writes issues a window of writes.
func (s *stream) writes(ctx context.Context) error {
	for range s.window {
		err := s.q.Write(s.dst, s.src)
		if errors.Is(err, gaspi.ErrQueueFull) {
			if err = s.q.Wait(ctx); err == nil {
				err = s.q.Write(s.dst, s.src)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// sender sends windows, and waits for the answer to each.
func (s *stream) sender(ctx context.Context) func(int) error {
	return s.inTurn(ctx, s.sendWindow, s.awaitAck)
}

func (s *stream) sendWindow(ctx context.Context, v uint32) error {
	limit.Stamp(s.out, v)
	if err := s.writes(ctx); err != nil {
		return err
	}
	return s.Notify(ctx, v) // after all earlier writes of its queue
}

func (s *stream) receiver(ctx context.Context) func(int) error {
	return s.inTurn(ctx, s.Reading(s.AwaitNotification), s.acknowledge)
}

func (s *stream) bareSender(ctx context.Context) func(int) error {
	return s.inTurn(ctx, s.copyWindow, s.awaitFlag)
}

func (s *stream) copyWindow(ctx context.Context, v uint32) error {
	limit.Stamp(s.out, v)
	for range s.window {
		segment.Copy(s.dest, s.out)
	}
	return s.raise(ctx, v)
}

func (s *stream) bareReceiver(ctx context.Context) func(int) error {
	return s.inTurn(ctx, s.Reading(s.awaitFlag), s.raise)
}

func (s *stream) writer(ctx context.Context) func(int) error {
	return func(n int) error {
		for range n {
			if err := s.writes(ctx); err != nil {
				return err
			}
		}
		return s.q.Wait(ctx)
	}
}

func (s *stream) copier() func(int) error {
	return func(n int) error {
		for range n * s.window {
			segment.Copy(s.dest, s.out)
		}
		return nil
	}
}
