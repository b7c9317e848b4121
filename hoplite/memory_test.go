package hoplite_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/hoplite"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

// A usage is what a process has besides the memory of its stores.
type usage struct {
	goroutines, mappings int
	heap                 uint64 // bytes
}

// heapSlack is how much the heap may differ for other reasons than a leak.
const heapSlack = 8 << 20

func usageNow(t *testing.T) usage {
	t.Helper()
	debug.FreeOSMemory() // also ends mappings that nothing can reach
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	var heap runtime.MemStats
	runtime.ReadMemStats(&heap)
	return usage{runtime.NumGoroutine(), bytes.Count(maps, []byte("memfd:")), heap.HeapAlloc}
}

// leaksNothing waits until there is no more than there was before.
func leaksNothing(t *testing.T, before usage) {
	t.Helper()
	testenv.EventuallySucceeds(t, func() error {
		now := usageNow(t)
		if now.goroutines <= before.goroutines && now.mappings <= before.mappings && now.heap <= before.heap+heapSlack {
			return nil
		}
		return fmt.Errorf("no more than before: there was %+v, and now %+v", before, now)
	})
}

// Traffic of ten times the store stays within it, and leaves nothing behind.
func TestTrafficStaysWithinTheStore(t *testing.T) {
	capacity, times := int64(256<<10), int64(10)
	if isLong() {
		capacity = 1 << 30
	}
	seed := seedOf(t)
	before := usageNow(t)
	err := gaspi.Local(t.Context(), 3, gaspi.Config{}, func(ctx context.Context, p *gaspi.Proc) error {
		segments, queues := p.Segments(), p.Queues()
		s, err := hoplite.Open(ctx, p.World(), hoplite.Config{Capacity: capacity, Inline: 1000, Chunk: max(4096, capacity/4096)})
		if err != nil {
			return err
		}
		if err := traffic(ctx, p, s, seed, capacity, times*capacity); err != nil {
			return err
		}
		if err := emptyEverywhere(ctx, p, s); err != nil {
			return err
		}
		// Only if every byte is free there is room for this.
		all := make([]byte, capacity)
		if err := hoplite.Put(ctx, s, name("all", int(p.Rank())), all); err != nil {
			return fmt.Errorf("after all was deleted: %w", err)
		}
		if err := s.Close(ctx); err != nil {
			return err
		}
		return unchanged(p, segments, queues)
	})
	if err != nil {
		t.Fatal(err)
	}
	leaksNothing(t, before)
}

// emptyEverywhere fails unless nothing is left on any member. All call it, and none goes on
// before all have.
func emptyEverywhere(ctx context.Context, p *gaspi.Proc, s *hoplite.Store) error {
	if err := meet(ctx, p); err != nil {
		return err
	}
	if err := leftNothing(s); err != nil {
		return err
	}
	return meet(ctx, p)
}

// leftNothing waits until the last words about what was deleted have arrived.
func leftNothing(s *hoplite.Store) error {
	for until := time.Now().Add(10 * time.Second); ; runtime.Gosched() {
		left := s.Leftovers()
		if left == "" {
			return nil
		}
		if time.Now().After(until) {
			return fmt.Errorf("everything was deleted, and there still is: %s", left)
		}
	}
}

// traffic puts, gets and deletes until so many bytes were put by this rank.
func traffic(ctx context.Context, p *gaspi.Proc, s *hoplite.Store, seed uint64, capacity, bytes int64) error {
	rng := rand.New(rand.NewPCG(seed, uint64(p.Rank())))
	var held []string
	drop := func() error {
		i := rng.IntN(len(held))
		id := held[i]
		held = slices.Delete(held, i, i+1)
		return s.Delete(ctx, id)
	}
	buf := make([]byte, capacity/8)
	for n := 0; bytes > 0; n++ {
		data := buf[:1+rng.IntN(len(buf))]
		data[0], data[len(data)-1] = byte(n), byte(n)
		id := fmt.Sprintf("%d of %d", n, p.Rank())
		err := hoplite.Put(ctx, s, id, data)
		switch {
		case errors.Is(err, hoplite.ErrFull) && len(held) > 0:
			if err := drop(); err != nil {
				return err
			}
			continue
		case err != nil:
			return err
		}
		held = append(held, id)
		bytes -= int64(len(data))
		// The object that another rank has put last may be gone when it is asked for.
		short, cancel := brief(ctx)
		err = look(short, s, fmt.Sprintf("%d of %d", n, (int(p.Rank())+1)%p.Size()), byte(n))
		cancel()
		if err := (&client{}).judge(err); err != nil {
			return err
		}
		if len(held) > 3 {
			if err := drop(); err != nil {
				return err
			}
		}
	}
	for len(held) > 0 {
		if err := drop(); err != nil {
			return err
		}
	}
	return nil
}

// look gets an object that begins and ends with a mark, every other time a copy of it.
func look(ctx context.Context, s *hoplite.Store, id string, mark byte) error {
	var data []byte
	if mark%2 == 0 {
		ref, err := hoplite.GetReadOnly[byte](ctx, s, id)
		if err != nil {
			return err
		}
		defer ref.Release()
		data = ref.Data()
	} else {
		var err error
		if data, err = hoplite.Get[byte](ctx, s, id); err != nil {
			return err
		}
	}
	if data[0] != mark || data[len(data)-1] != mark {
		return fmt.Errorf("%w: %s is another object", errWrong, id)
	}
	return nil
}

// TestLargeObjects puts large objects, gets one at another rank and reduces them: of 16 MiB,
// and of more than 2 GiB, sizes that no int32 holds, when GASPI_TEST_LONG is 1.
func TestLargeObjects(t *testing.T) {
	size, need := 16<<20+4097, int64(128<<20)
	if isLong() {
		size, need = 2<<30+4097, 14<<30
	}
	if free := available(t); free < need {
		t.Fatalf("%d MiB of memory are free, and it takes %d; free some, or unset GASPI_TEST_LONG", free>>20, need>>20)
	}
	err := gaspi.Local(t.Context(), 2, gaspi.Config{}, func(ctx context.Context, p *gaspi.Proc) error {
		s, err := hoplite.Open(ctx, p.World(), hoplite.Config{Capacity: 2*int64(size) + 1<<20})
		if err != nil {
			return err
		}
		me := int(p.Rank())
		data := make([]byte, size)
		for i := range data {
			data[i] = bigByte(me, i)
		}
		if err := hoplite.Put(ctx, s, name("big", me), data); err != nil {
			return err
		}
		data = nil
		if me == 0 {
			if _, err := hoplite.Reduce[uint8](ctx, s, "sum", []string{name("big", 0), name("big", 1)}, hoplite.Sum); err != nil {
				return err
			}
			err = compareBig(ctx, s, "sum", size, func(i int) byte { return bigByte(0, i) + bigByte(1, i) })
		} else {
			err = compareBig(ctx, s, name("big", 0), size, func(i int) byte { return bigByte(0, i) })
		}
		if err != nil {
			return err
		}
		return s.Close(ctx)
	})
	if err != nil {
		t.Error(err)
	}
}

// bigByte is a byte of a rank's object: none is like its neighbours, or like that of a
// power of two away.
func bigByte(rank, i int) byte { return byte(i*31 + i>>13*7 + i>>29*5 + rank*101) }

// compareBig gets an object and looks at all of it.
func compareBig(ctx context.Context, s *hoplite.Store, id string, size int, want func(i int) byte) error {
	ref, err := hoplite.GetReadOnly[byte](ctx, s, id)
	if err != nil {
		return err
	}
	defer ref.Release()
	if len(ref.Data()) != size {
		return fmt.Errorf("%s has %d bytes, want %d", id, len(ref.Data()), size)
	}
	for i, b := range ref.Data() {
		if b != want(i) {
			return fmt.Errorf("byte %d of %s is %#x, want %#x", i, id, b, want(i))
		}
	}
	return nil
}

// available is how many bytes of memory the system can give.
func available(t *testing.T) int64 {
	t.Helper()
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var kib int64
		if n, _ := fmt.Sscanf(line, "MemAvailable: %d kB", &kib); n == 1 {
			return kib << 10
		}
	}
	t.Fatal("/proc/meminfo does not say how much memory is available")
	return 0
}

// An empty store takes one object of as many bytes as its capacity, whatever that is, at
// the rank that puts it and at one that gets it, and again once that is deleted.
func TestEmptyStoreTakesItsCapacity(t *testing.T) {
	seed := seedOf(t)
	rng := rand.New(rand.NewPCG(seed, 0))
	capacities := []int64{1, 2, 63, 64, 65, 127, 128, 129, 1000, 4095, 4097, 1_500_000}
	for range 20 {
		capacities = append(capacities, 1+rng.Int64N(1<<(1+rng.IntN(20))))
	}
	err := gaspi.Local(t.Context(), 2, gaspi.Config{}, func(ctx context.Context, p *gaspi.Proc) error {
		for _, capacity := range capacities {
			for _, inline := range []int64{-1, 64 << 10} {
				if err := fill(ctx, p, hoplite.Config{Capacity: capacity, Inline: inline}); err != nil {
					return fmt.Errorf("seed %d, a store of %d bytes, %d inline: %w", seed, capacity, inline, err)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// fill puts an object at rank 0 and gets it at rank 1, twice, and one that is too large.
func fill(ctx context.Context, p *gaspi.Proc, cfg hoplite.Config) error {
	s, err := hoplite.Open(ctx, p.World(), cfg)
	if err != nil {
		return err
	}
	object := make([]byte, cfg.Capacity)
	object[cfg.Capacity-1] = 7
	for round := range 2 {
		id := name("object", round)
		if p.Rank() == 0 {
			err = hoplite.Put(ctx, s, id, object)
		} else {
			got := make([]byte, cfg.Capacity)
			if _, err = hoplite.GetInto(ctx, s, id, got); err == nil {
				err = same(got, object)
			}
		}
		if err != nil {
			return err
		}
		if err := meet(ctx, p); err != nil {
			return err
		}
		if p.Rank() == 0 {
			if err := s.Delete(ctx, id); err != nil {
				return err
			}
		}
		if err := emptyEverywhere(ctx, p, s); err != nil {
			return err
		}
	}
	if p.Rank() == 0 {
		if err := wants("more than the capacity", hoplite.Put(ctx, s, "more", make([]byte, cfg.Capacity+64)), hoplite.ErrFull); err != nil {
			return err
		}
	}
	return s.Close(ctx)
}
