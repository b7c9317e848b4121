package hoplite_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/hoplite"
	"github.com/gaspi-go/gaspi-go/internal/ranktest"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

func TestMembersWithDifferentConfigurations(t *testing.T) {
	for _, c := range []struct {
		name string
		cfg  func(r gaspi.Rank) hoplite.Config
		want [2]string
	}{
		{"capacity", func(r gaspi.Rank) hoplite.Config { return hoplite.Config{Capacity: 1<<20 + 64*int64(r)} },
			[2]string{"Config.Capacity is not the same at all members", "Config.Capacity is not the same at all members"}},
		{"links", func(r gaspi.Rank) hoplite.Config {
			return hoplite.Config{Capacity: 1 << 20, Links: hoplite.Links{Bandwidth: 1e9 + float64(r)}}
		}, [2]string{"Config.Links.Bandwidth is not the same", "Config.Links.Bandwidth is not the same"}},
		{"one is wrong", func(r gaspi.Rank) hoplite.Config { return hoplite.Config{Capacity: 1 << 20, Chunk: 4096 + int64(r)} },
			[2]string{"rank 1 cannot take part", "Config.Chunk is 4097; want a multiple of 64"}},
		{"no capacity", func(gaspi.Rank) hoplite.Config { return hoplite.Config{Capacity: -1} },
			[2]string{"open: out of range: Config.Capacity is -1; want 1 or more", "open: out of range: Config.Capacity is -1; want 1 or more"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := gaspi.Local(t.Context(), 2, gaspi.Config{}, func(ctx context.Context, p *gaspi.Proc) error {
				segments, queues := p.Segments(), p.Queues()
				_, err := hoplite.Open(ctx, p.World(), c.cfg(p.Rank()))
				if err := contains(err, c.want[p.Rank()]); err != nil {
					return err
				}
				return unchanged(p, segments, queues)
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

func contains(err error, text string) error {
	if err == nil || !strings.Contains(err.Error(), text) {
		return fmt.Errorf("got %v, want an error that says %q", err, text)
	}
	return nil
}

// unchanged says what the rank has that it did not have before.
func unchanged(p *gaspi.Proc, segments []gaspi.SegmentID, queues []int) error {
	if d := cmp.Diff(segments, p.Segments()) + cmp.Diff(queues, p.Queues()); d != "" {
		return fmt.Errorf("segments or queues (-before +after):\n%s", d)
	}
	return nil
}

// A store that is closed gives everything back, and ends what waits in it.
func TestClose(t *testing.T) {
	for _, transport := range []string{"loopback", "tcp"} {
		for ranks := 1; ranks <= 4; ranks++ {
			t.Run(fmt.Sprintf("%s/%d ranks", transport, ranks), func(t *testing.T) {
				err := gaspi.Local(t.Context(), ranks, gaspi.Config{Transport: transport}, func(ctx context.Context, p *gaspi.Proc) error {
					segments, queues := p.Segments(), p.Queues()
					for round := range 3 {
						if err := openAndClose(ctx, p, round); err != nil {
							return err
						}
						if err := unchanged(p, segments, queues); err != nil {
							return err
						}
					}
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
	}
}

func openAndClose(ctx context.Context, p *gaspi.Proc, round int) error {
	s, err := hoplite.Open(ctx, p.World(), hoplite.Config{Capacity: 1 << 20, Chunk: 4096})
	if err != nil {
		return err
	}
	if err := reduceOnce(ctx, p, s, "x", 10_000); err != nil {
		return err
	}
	waits := make(chan error, 2)
	go func() {
		_, err := hoplite.Get[byte](ctx, s, "never")
		waits <- err
	}()
	go func() {
		var err error
		for _, err = range s.Watch(ctx, "never") {
		}
		waits <- err
	}()
	if round == 1 {
		runtime.Gosched()
	}
	if err := s.Close(ctx); err != nil {
		return err
	}
	for range 2 {
		if err := wants("what waited when the store was closed", <-waits, hoplite.ErrClosed); err != nil {
			return err
		}
	}
	if err := wants("put into a closed store", hoplite.Put(ctx, s, "y", []byte{1}), hoplite.ErrClosed); err != nil {
		return err
	}
	return s.Close(ctx)
}

// Goal: of several Closes at a time, each returns when the store has given back what it took, and not before.
// Method: four goroutines of each rank close stores of 20 rounds, and each looks for itself.
func TestClosesAtATime(t *testing.T) {
	for _, transport := range []string{"loopback", "tcp"} {
		ranktest.Local(t, 2, gaspi.Config{Transport: transport}, func(ctx context.Context, p *gaspi.Proc) error {
			segments, queues := p.Segments(), p.Queues()
			for range 20 {
				s, err := hoplite.Open(ctx, p.World(), hoplite.Config{Capacity: 1 << 20})
				if err != nil {
					return err
				}
				ends := make(chan error, 4)
				for range cap(ends) {
					go func() { ends <- errors.Join(s.Close(ctx), unchanged(p, segments, queues)) }()
				}
				for range cap(ends) {
					err = errors.Join(err, <-ends)
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
}

// A process that is closed before its store ends the calls of the store.
func TestProcessIsClosedFirst(t *testing.T) {
	job := func(ctx context.Context, p *gaspi.Proc) error {
		s, err := hoplite.Open(ctx, p.World(), hoplite.Config{Capacity: 1 << 20})
		if err != nil {
			return err
		}
		waits := make(chan error, 1)
		go func() {
			_, err := hoplite.Get[byte](ctx, s, "never")
			waits <- err
		}()
		if err := p.Close(); err != nil {
			return err
		}
		if err := wants("a get", <-waits, hoplite.ErrClosed); err != nil {
			return err
		}
		return wants("close", s.Close(ctx), hoplite.ErrClosed)
	}
	if err := gaspi.Local(t.Context(), 1, gaspi.Config{}, job); err != nil {
		t.Error(err)
	}
}

// Goal: a Put that begins in the turn in which the store ends, as by a member that writes nonsense, ends with the
// reason.
func TestPutWhenTheStoreEnds(t *testing.T) {
	for _, size := range []int{1, 100_000} { // copied by the turn, and by the caller
		ranktest.Local(t, 2, gaspi.Config{}, func(ctx context.Context, p *gaspi.Proc) error {
			s, err := hoplite.Open(ctx, p.World(), hoplite.Config{Capacity: 1 << 20})
			if err != nil {
				return err
			}
			if p.Rank() == 0 {
				if err := putBesideNonsense(ctx, t, s, size); err != nil {
					return err
				}
			}
			return p.Barrier(ctx, p.World())
		})
	}
}

func putBesideNonsense(ctx context.Context, t *testing.T, s *hoplite.Store, size int) error {
	put := make(chan error, 1)
	err := s.CorruptMail(1, func(begun func() bool) {
		go func() { put <- hoplite.Put(ctx, s, "x", make([]byte, size)) }()
		testenv.Eventually(t, "the Put has begun", begun)
	})
	if err != nil {
		return err
	}
	return contains(<-put, "which cannot be; use segment")
}
