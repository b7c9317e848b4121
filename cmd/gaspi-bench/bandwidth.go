package main

import (
	"context"
	"errors"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/report"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/segment"
)

// bandwidth measures writes in a row.
func bandwidth() operation {
	return operation{
		name: "bandwidth",
		about: `writes from rank 0 into the memory of rank 1: "bandwidth" in windows
that end with a notification which rank 1 answers, "put" without anybody
looking. Limit: plain copies between the same two mappings; for "bandwidth"
with a bare flag each way at the end of the window. Over tcp: the same bytes over
one connection whose ends look without sleeping, and no "put".`,
		minRanks: 2,
		sizes:    []uint64{4 << 10, 64 << 10, 1 << 20, 16 << 20},
		prepare:  prepareBandwidth,
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

func prepareBandwidth(ctx context.Context, b *bench, size uint64) ([]workload, error) {
	win := window(size)
	seen := workload{Subject: report.Subject{Op: "bandwidth", Bytes: size, Moves: true}, timed: b.p.Rank() == 0, steps: win}
	put := workload{Subject: report.Subject{Op: "put", Bytes: size, Moves: true}, timed: b.p.Rank() == 0, steps: win}
	peer, part := b.peer()
	near, err := b.nearby(ctx, peer, part)
	if err != nil {
		return nil, err
	}
	if !part {
		seen.contenders = []contender{{report.ImplGaspi, idle}, {report.ImplLimit, idle}}
		put.contenders = seen.contenders
		switch {
		case near:
			return []workload{seen, put}, nil
		case !b.wired():
			seen.contenders = seen.contenders[:1]
		}
		return []workload{seen}, nil
	}
	m, err := newMail(b, peer, size)
	if err != nil {
		return nil, err
	}
	s := &stream{mail: m, window: win}
	if !near {
		return prepareWired(ctx, s, seen, peer)
	}
	if b.p.Rank() == 0 {
		seen.contenders = []contender{{report.ImplGaspi, s.sender(ctx)}, {report.ImplLimit, s.bareSender(ctx)}}
		put.contenders = []contender{{report.ImplGaspi, s.writer(ctx)}, {report.ImplLimit, s.copier()}}
	} else {
		seen.contenders = []contender{{report.ImplGaspi, s.receiver(ctx)}, {report.ImplLimit, s.bareReceiver(ctx)}}
		put.contenders = []contender{{report.ImplGaspi, idle}, {report.ImplLimit, idle}}
	}
	return []workload{seen, put}, nil
}

// prepareWired is prepareBandwidth for ranks that do not share memory. How fast a
// put is that nobody looks at depends on how much the system keeps, so it is left
// out.
func prepareWired(ctx context.Context, s *stream, seen workload, peer gaspi.Rank) ([]workload, error) {
	mine := s.receiver(ctx)
	if s.first {
		mine = s.sender(ctx)
	}
	seen.contenders = []contender{{report.ImplGaspi, mine}}
	if !s.b.wired() {
		return []workload{seen}, nil
	}
	w, err := s.b.connect(ctx, peer)
	if err != nil {
		return nil, err
	}
	limit := wiredMail{mail: s.mail, socketPair: w}
	bare := limit.receiver(ctx, s.window)
	if s.first {
		bare = limit.sender(ctx, s.window)
	}
	seen.contenders = append(seen.contenders, contender{report.ImplLimit, bare})
	return []workload{seen}, nil
}

// nearby reports whether ranks 0 and 1 share memory, the same on all ranks.
func (b *bench) nearby(ctx context.Context, peer gaspi.Rank, part bool) (bool, error) {
	shared := []int32{0}
	if _, ok := b.seg.Mapped(peer, 0, 1); part && ok {
		shared[0] = 1
	}
	err := gaspi.AllReduce(ctx, b.p.World(), shared, shared, gaspi.Max)
	return shared[0] == 1, err
}

// stream is one end of a series of writes.
type stream struct {
	*mail
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

func (s *stream) sender(ctx context.Context) func(int) error {
	return func(n int) error {
		for range n {
			v := s.seq.next()
			stamp(s.out, v)
			if err := s.writes(ctx); err != nil {
				return err
			}
			// A notification comes after all earlier writes of its queue.
			if err := s.q.Notify(s.dst, gaspi.Notification{ID: notePing, Value: gaspi.Value(v)}); err != nil {
				return err
			}
			if err := s.q.Wait(ctx); err != nil {
				return err
			}
			if err := s.b.seg.WaitUntil(ctx, noteAck, gaspi.Equal, gaspi.Value(v)); err != nil {
				return err
			}
		}
		return nil
	}
}

func (s *stream) receiver(ctx context.Context) func(int) error {
	return func(n int) error {
		for range n {
			v := s.seq.next()
			if err := s.awaitNotification(ctx, v); err != nil {
				return err
			}
			if err := verify(s.in, v); err != nil {
				return err
			}
			if err := s.q.Notify(s.dst, gaspi.Notification{ID: noteAck, Value: gaspi.Value(v)}); err != nil {
				return err
			}
			if err := s.q.Wait(ctx); err != nil {
				return err
			}
		}
		return nil
	}
}

func (s *stream) bareSender(ctx context.Context) func(int) error {
	return func(n int) error {
		for range n {
			v := s.seq.next()
			stamp(s.out, v)
			for range s.window {
				segment.Copy(s.dest, s.out)
			}
			raise(s.bell, v)
			if err := s.b.await(ctx, s.flag, v); err != nil {
				return err
			}
		}
		return nil
	}
}

func (s *stream) bareReceiver(ctx context.Context) func(int) error {
	return func(n int) error {
		for range n {
			v := s.seq.next()
			if err := s.b.await(ctx, s.flag, v); err != nil {
				return err
			}
			if err := verify(s.in, v); err != nil {
				return err
			}
			raise(s.bell, v)
		}
		return nil
	}
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
