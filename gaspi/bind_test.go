package gaspi_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/ranktest"
	"github.com/gaspi-go/gaspi-go/launcher"
)

// Segments of memory that the program owns must work alike where peers share the
// address space and where they are processes that cannot map it. So the same
// ranks run twice: as goroutines, and as processes.

func TestGASPISegmentBindAmongGoroutines(t *testing.T) {
	for _, n := range []int{1, 2, 3, 5} {
		t.Run(fmt.Sprint(n), func(t *testing.T) { ranktest.Local(t, n, small, bindEverything) })
	}
}

func TestBoundSegmentsAmongProcesses(t *testing.T) {
	for _, n := range []int{1, 2, 3} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			ranktest.Succeeds(t, launcher.Config{Ranks: n}, "everything")
		})
	}
}

const (
	bindSize   = 200_003 // several requests of the shared memory transport, and no round number
	bindWord   = 200_008 // for atomics; nothing else is done there, because the race detector does not see what would order it
	bindMemory = 200_016 // and a byte more for every rank
)

// bindEverything does every operation on bound segments of the next rank.
func bindEverything(ctx context.Context, p *gaspi.Proc) error {
	me, n := int(p.Rank()), p.Size()
	next := gaspi.Rank((me + 1) % n)
	mem := make([]byte, bindMemory+me)
	seg, err := p.UseSegment(ctx, 1, mem)
	if err != nil {
		return err
	}
	if size, _, err := p.RemoteSize(next, 1); err != nil || size != uint64(bindMemory+int(next)) {
		return fmt.Errorf("size %d, %v; want %d", size, err, bindMemory+int(next))
	}
	own, err := p.AllocSegment(0, 2*bindSize)
	if err != nil {
		return err
	}
	for _, step := range []func(context.Context, *gaspi.Proc, *gaspi.Segment, *gaspi.Segment, gaspi.Rank) error{
		bindWrites, bindReads, bindAtomics, bindRefusals,
	} {
		if err := step(ctx, p, own, seg, next); err != nil {
			return err
		}
		if err := p.Barrier(ctx, p.World()); err != nil {
			return err
		}
	}
	return bindAgain(ctx, p, own, seg, next)
}

func pattern(r, n int) []byte { return bytes.Repeat([]byte{byte(r + 1), 7, 9}, n/3+1)[:n] }

// bindWrites writes to the next rank and looks at what the previous one wrote.
func bindWrites(ctx context.Context, p *gaspi.Proc, own, seg *gaspi.Segment, next gaspi.Rank) error {
	q, prev := p.MustQueue(0), (int(p.Rank())+p.Size()-1)%p.Size()
	for round := 1; round <= 20; round++ {
		copy(own.Bytes(), pattern(int(p.Rank())+round, bindSize))
		src := must(own.Span(0, bindSize))
		half := must(own.Span(0, bindSize/2))
		if err := q.Write(seg.At(next, 0), half); err != nil {
			return err
		}
		if err := q.Notify(seg.At(next, 0), gaspi.Notification{ID: 0, Value: gaspi.Value(round)}); err != nil {
			return err
		}
		if err := q.WriteNotify(seg.At(next, 0), src, gaspi.Notification{ID: 1, Value: gaspi.Value(round)}); err != nil {
			return err
		}
		for id := range gaspi.NotificationID(2) {
			if _, err := seg.WaitSome(ctx, id, 1); err != nil {
				return err
			}
			if v, err := seg.Reset(id); err != nil || v != gaspi.Value(round) {
				return fmt.Errorf("notification %d: %d, %v; want %d", id, v, err, round)
			}
		}
		if !bytes.Equal(seg.Bytes()[:bindSize], pattern(prev+round, bindSize)) {
			return fmt.Errorf("round %d: the flag is here, the bytes of rank %d are not", round, prev)
		}
		if err := p.Barrier(ctx, p.World()); err != nil {
			return err
		}
	}
	return q.Wait(ctx)
}

// bindReads reads what every rank has in its bound segment.
func bindReads(ctx context.Context, p *gaspi.Proc, own, seg *gaspi.Segment, next gaspi.Rank) error {
	copy(seg.Bytes(), pattern(int(p.Rank()), bindSize))
	if err := p.Barrier(ctx, p.World()); err != nil {
		return err
	}
	q := p.MustQueue(1)
	for r := range gaspi.Rank(p.Size()) {
		clear(own.Bytes())
		dst := must(own.Span(8, bindSize-16))
		if err := q.ReadNotify(dst, seg.At(r, 16), gaspi.Notification{ID: 3, Value: 5}); err != nil {
			return err
		}
		if _, err := own.WaitSome(ctx, 3, 1); err != nil {
			return err
		}
		if v, err := own.Reset(3); err != nil || v != 5 {
			return fmt.Errorf("notification of a read: %d, %v", v, err)
		}
		if !bytes.Equal(dst.Bytes(), pattern(int(r), bindSize)[16:]) {
			return fmt.Errorf("read something else from rank %d", r)
		}
	}
	return q.Wait(ctx)
}

// bindAtomics counts at rank 0, which counts there too.
func bindAtomics(ctx context.Context, p *gaspi.Proc, _, seg *gaspi.Segment, _ gaspi.Rank) error {
	const each = 500
	at := seg.At(0, bindWord)
	for range each {
		if _, err := p.FetchAdd(ctx, at, 1); err != nil {
			return err
		}
	}
	if err := p.Barrier(ctx, p.World()); err != nil {
		return err
	}
	if got, err := p.FetchAdd(ctx, at, 0); err != nil || got != uint64(each*p.Size()) {
		return fmt.Errorf("counted %d, %v; want %d", got, err, each*p.Size())
	}
	return nil
}

// bindRefusals tries what must be refused.
func bindRefusals(ctx context.Context, p *gaspi.Proc, own, seg *gaspi.Segment, next gaspi.Rank) error {
	q := p.MustQueue(2)
	end := uint64(bindMemory + int(next))
	src := must(own.Span(0, 8))
	_, unaligned := p.FetchAdd(ctx, seg.At(next, 4), 1)
	_, beyond := p.FetchAdd(ctx, seg.At(next, (end-7)/8*8+8), 1)
	for _, c := range []struct {
		name      string
		err, want error
	}{
		{"write over the end", q.Write(seg.At(next, end-7), src), gaspi.ErrOutOfRange},
		{"read over the end", q.Read(src, seg.At(next, end-7)), gaspi.ErrOutOfRange},
		{"notification that is not there", q.Notify(seg.At(next, 0), gaspi.Notification{ID: 1 << 20, Value: 1}), gaspi.ErrNoNotification},
		{"unaligned atomic", unaligned, gaspi.ErrUnaligned},
		{"atomic over the end", beyond, gaspi.ErrOutOfRange},
	} {
		if !errors.Is(c.err, c.want) {
			return fmt.Errorf("%s: %v; want %v", c.name, c.err, c.want)
		}
	}
	if _, ok := seg.Mapped(next, 0, 8); ok && next != p.Rank() && must(p.Transport(next)) == "shm" {
		return errors.New("bound memory of another process can be addressed")
	}
	return q.Wait(ctx)
}

// bindAgain deletes the bound segment, and makes a created and a bound one of
// the same id.
func bindAgain(ctx context.Context, p *gaspi.Proc, own, seg *gaspi.Segment, next gaspi.Rank) error {
	old := seg.Bytes()[:bindSize]
	before := bytes.Clone(old)
	if err := seg.Delete(); err != nil {
		return err
	}
	if err := p.Barrier(ctx, p.World()); err != nil {
		return err
	}
	q := p.MustQueue(3)
	src := must(own.Span(0, 8))
	if err := q.Write(seg.At(next, 0), src); !errors.Is(err, gaspi.ErrNoSegment) {
		return fmt.Errorf("write to what was deleted: %v; want %v", err, gaspi.ErrNoSegment)
	}
	if err := p.Barrier(ctx, p.World()); err != nil {
		return err
	}
	created, err := p.CreateSegment(ctx, 1, 64)
	if err != nil {
		return err
	}
	if err := q.Write(created.At(next, 0), src); err != nil {
		return fmt.Errorf("write to a created segment of the same id: %w", err)
	}
	if err := p.Barrier(ctx, p.World()); err != nil {
		return err
	}
	if err := created.Delete(); err != nil {
		return err
	}
	bound, err := p.BindSegment(1, make([]byte, 64))
	if err != nil {
		return err
	}
	for r := range gaspi.Rank(p.Size()) {
		if err := bound.Register(r); err != nil {
			return err
		}
	}
	if err := p.Barrier(ctx, p.World()); err != nil {
		return err
	}
	if err := q.Write(bound.At(next, 0), src); err != nil {
		return fmt.Errorf("write to a bound segment of the same id: %w", err)
	}
	if !bytes.Equal(old, before) {
		return errors.New("memory changed after its segment was deleted")
	}
	return p.Barrier(ctx, p.World())
}

// bindDeath has every rank write to rank 0 until rank 0 is killed by rank 1.
func bindDeath(ctx context.Context, p *gaspi.Proc) error {
	seg, err := p.UseSegment(ctx, 1, make([]byte, bindSize))
	if err != nil {
		return err
	}
	own, err := p.AllocSegment(0, bindSize)
	if err != nil {
		return err
	}
	if p.Rank() == 0 {
		_, err := seg.WaitSome(ctx, 63, 1) // nobody sends it
		return err
	}
	q, src := p.MustQueue(0), must(own.Span(0, bindSize))
	write := func() error {
		if err := q.Write(seg.At(0, 0), src); err != nil {
			return err
		}
		return q.Wait(ctx)
	}
	killed := make(chan error, 1)
	for i := 0; ; i++ {
		if i == 20 && p.Rank() == 1 {
			go func() { killed <- p.Kill(ctx, 0) }()
		}
		if err = write(); err != nil {
			break
		}
	}
	var dead *gaspi.RankError
	if !errors.As(err, &dead) || dead.Rank != 0 {
		return fmt.Errorf("writing to rank 0 when it was killed: %v", err)
	}
	if p.Rank() == 1 {
		return <-killed
	}
	return nil
}

func TestOwnerOfABoundSegmentDies(t *testing.T) {
	res := ranktest.Run(t, launcher.Config{Ranks: 3, OnFailure: launcher.Continue}, "death")
	for _, r := range res.Ranks {
		if r.Failed() != (r.Rank == 0) {
			t.Errorf("rank %d ended with %d\n%s\n%s", r.Rank, r.Code(), res.Sentence, res.Output)
		}
	}
}
