package transport

import (
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

func TestQueueHoldsItsDepth(t *testing.T) {
	t.Run("shared", func(t *testing.T) { holdsItsDepth(t, NewQueue(4, 0)) })
	t.Run("serialized", func(t *testing.T) {
		q := NewQueue(4, 0)
		q.Serialize()
		holdsItsDepth(t, q)
	})
}

func holdsItsDepth(t *testing.T, q *Queue) {
	for i := range 4 {
		if !q.Take(1) {
			t.Fatalf("entry %d of 4 was refused", i)
		}
	}
	if q.Take(1) || q.Size() != 4 {
		t.Fatalf("a fifth entry was given, or the size %d is not 4", q.Size())
	}
	q.Settle(q.Issued())
	if !q.Take(3) || q.Take(2) || q.Size() != 3 {
		t.Fatalf("after a wait: size %d, want 3: takes are all or none", q.Size())
	}
	if q.Settle(2); q.Size() != 3 {
		t.Fatalf("an old mark changed the size to %d", q.Size())
	}
	if !q.Take(0) {
		t.Fatal("no entries were refused")
	}
	if q.Take(math.MaxUint64) {
		t.Fatal("more entries than can be counted were given")
	}
}

// As many goroutines as the queue has entries, each with one at a time: there is
// room always, so a refusal is one on the base of counts from different times.
func TestTakeNeverFailsWhereThereIsRoom(t *testing.T) {
	const posters, rounds = 4, 20_000
	q := NewQueue(posters, 0)
	var wg sync.WaitGroup
	var refused atomic.Int64
	for range posters {
		wg.Go(func() {
			for range rounds {
				if !q.Take(1) {
					refused.Add(1)
					continue
				}
				q.Settle(q.Issued())
			}
		})
	}
	wg.Wait()
	if n := refused.Load(); n != 0 {
		t.Errorf("%d of %d takes were refused", n, posters*rounds)
	}
	if got := q.Issued(); got != posters*rounds {
		t.Errorf("issued %d, want %d", got, posters*rounds)
	}
	if q.Size() != 0 {
		t.Errorf("size %d at the end, want 0", q.Size())
	}
}

// One goroutine takes entries of a serialized queue while another gives them back: none is lost. Each
// gives up its processor where it has nothing to do, as the other has none on a machine with one core.
func TestSerializedTakes(t *testing.T) {
	const rounds = 100_000
	q := NewQueue(4, 0)
	q.Serialize()
	go func() {
		for q.Issued() < rounds {
			q.Settle(q.Issued())
			if q.Size() == 0 {
				runtime.Gosched()
			}
		}
	}()
	for taken := 0; taken < rounds; {
		if q.Take(1) {
			taken++
		} else {
			runtime.Gosched()
		}
		if n := q.Size(); n > 4 {
			t.Fatalf("%d of 4 entries are taken", n)
		}
	}
	if got := q.Issued(); got != rounds {
		t.Errorf("issued %d, want %d", got, rounds)
	}
}

func TestApply(t *testing.T) {
	const top = math.MaxUint64
	for _, c := range []struct {
		op                        AtomicOp
		word, operand, cmp, after uint64
	}{
		{FetchAdd, 40, 2, 0, 42},
		{FetchAdd, top, 3, 0, 2},
		{CompareSwap, 7, 9, 7, 9},
		{CompareSwap, 7, 9, 8, 7},
		{Swap, 7, 9, 0, 9},
		{FetchMin, 7, 9, 0, 7},
		{FetchMin, top, 9, 0, 9},
		{FetchMax, 7, 9, 0, 9},
		{FetchMax, top, 9, 0, top},
		{FetchAnd, 0b1100, 0b1010, 0, 0b1000},
		{FetchOr, 0b1100, 0b1010, 0, 0b1110},
		{FetchXor, 0b1100, 0b1010, 0, 0b0110},
	} {
		var word atomic.Uint64
		word.Store(c.word)
		if old := Apply(&word, c.op, c.operand, c.cmp); old != c.word || word.Load() != c.after {
			t.Errorf("%v of %#x with %#x, %#x: returned %#x, left %#x; want %#x, %#x",
				c.op, c.word, c.operand, c.cmp, old, word.Load(), c.word, c.after)
		}
	}
}
