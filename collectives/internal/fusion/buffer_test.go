package fusion

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// others is the other members of a buffer, which have added as many vectors, and whose elements are as
// this one's: a reduction of two members doubles.
type others struct {
	lengths []int // of the operations
	fails   error
}

// ended is an operation that has ended.
type ended struct{ err error }

func (e ended) Done() <-chan struct{} {
	done := make(chan struct{})
	close(done)
	return done
}

func (e ended) Wait(context.Context) error { return e.err }

func (o *others) Start(buf []int32) (Started, error) {
	o.lengths = append(o.lengths, len(buf))
	for i := range buf {
		buf[i] *= 2
	}
	return ended{o.fails}, nil
}

func (o *others) StartMin([]uint64) (Started, error) { return ended{}, nil }

func TestVectorsBecomeFewOperations(t *testing.T) {
	const delay = time.Millisecond
	for _, c := range []struct {
		name       string
		bytes      int
		delay      time.Duration
		vectors    []int // lengths
		apart      bool  // they lie in memory of their own
		operations []int
	}{
		{"one behind the other", 64, delay, []int{3, 4, 5}, false, []int{12}},
		{"apart", 64, delay, []int{3, 4, 5}, true, []int{12}},
		{"full", 16, delay, []int{2, 2, 2, 2}, true, []int{4, 4}},
		{"too long for one", 16, delay, []int{3, 3}, true, []int{3, 3}},
		{"longer than an operation", 16, delay, []int{1, 9, 1}, true, []int{1, 9, 1}},
		{"empty", 16, delay, []int{0, 2, 0, 2}, false, []int{4}},
		{"without a limit", math.MaxInt, delay, []int{3, 4, 5}, true, []int{12}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := &others{}
				b := New(Bound{Bytes: c.bytes, Delay: c.delay}, Reducer[int32](o))
				all := make([]int32, 100)
				for i := range all {
					all[i] = int32(i)
				}
				var vectors []*Vector[int32]
				var bufs [][]int32
				at := 0
				for _, n := range c.vectors {
					buf := all[at : at+n : at+n]
					if !c.apart {
						buf = all[at : at+n]
					}
					at += n
					v := new(Vector[int32])
					if err := b.Add(v, buf); err != nil {
						t.Fatal(err)
					}
					vectors, bufs = append(vectors, v), append(bufs, buf)
				}
				for _, v := range vectors {
					<-v.Done()
					if err := v.Err(); err != nil {
						t.Fatal(err)
					}
				}
				b.Join()
				if !slices.Equal(o.lengths, c.operations) {
					t.Errorf("operations of %v elements, want %v", o.lengths, c.operations)
				}
				next := int32(0)
				for _, x := range slices.Concat(bufs...) {
					if x != 2*next {
						t.Fatalf("element %d is %d, want %d", next, x, 2*next)
					}
					next++
				}
			})
		})
	}
}

// Goal: an empty vector is apart from no other, wherever it lies.
func TestJoined(t *testing.T) {
	x := make([]int32, 8)
	empty := map[string][]int32{"nowhere": nil, "behind": x[4:4], "before": x[:0], "at the end": x[8:], "of its own": make([]int32, 0, 1)}
	for name, e := range empty {
		for _, c := range []struct {
			bufs   [][]int32
			joined bool
		}{
			{[][]int32{e, x[:2], x[2:4]}, true},
			{[][]int32{x[:2], e, x[2:4]}, true},
			{[][]int32{x[:2], x[2:4], e}, true},
			{[][]int32{e, e, x[:4]}, true},
			{[][]int32{e, x[:2], x[3:5]}, false},
			{[][]int32{e, x[2:4], x[:2]}, false},
		} {
			var vectors []*Vector[int32]
			for _, buf := range c.bufs {
				vectors = append(vectors, &Vector[int32]{buf: buf})
			}
			all, ok := joined(vectors)
			if ok != c.joined || ok && (len(all) != 4 || &all[0] != &x[0]) {
				t.Errorf("empty %s, %v: joined %v, %d elements", name, c.bufs, ok, len(all))
			}
		}
	}
}

func TestAWaitExpedites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New(Bound{Bytes: 1 << 20, Delay: time.Hour}, Reducer[int32](&others{}))
		var v Vector[int32]
		if err := b.Add(&v, make([]int32, 1)); err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		if !v.Wait(t.Context()) || time.Since(begun) != 0 {
			t.Errorf("the vector has waited for %v", time.Since(begun))
		}
		b.Join()
	})
}

func TestAnErrorEndsAllVectors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &others{fails: errors.New("a member is gone")}
		b := New(Bound{Bytes: 4, Delay: time.Hour}, Reducer[int32](o))
		var x, y Vector[int32]
		for _, v := range []*Vector[int32]{&x, &y} {
			if err := b.Add(v, make([]int32, 1)); err != nil {
				t.Fatal(err)
			}
		}
		b.Flush()
		for _, v := range []*Vector[int32]{&x, &y} {
			if <-v.Done(); !errors.Is(v.Err(), o.fails) {
				t.Errorf("the vector ended with %v, want %v", v.Err(), o.fails)
			}
		}
		b.Join()
		b.Close(errors.New("closed"))
		if err := b.Add(&x, nil); !errors.Is(err, o.fails) {
			t.Errorf("Add returned %v, want the first error, %v", err, o.fails)
		}
	})
}

// pending is others whose first operation ends with an error, and whose second ends when its channel is closed.
type pending struct {
	others
	second chan struct{}
}

func (p *pending) Start(buf []int32) (Started, error) {
	if p.lengths = append(p.lengths, len(buf)); len(p.lengths) == 1 {
		return ended{p.fails}, nil
	}
	return underWay{p.second}, nil
}

type underWay struct{ done chan struct{} }

func (u underWay) Done() <-chan struct{} { return u.done }

func (u underWay) Wait(context.Context) error { return nil }

// Goal: a vector is the caller's again when nothing writes to it, also after the error of another operation.
// Method: the operation of the second vector is under way while that of the first has failed.
func TestAVectorEndsBehindItsOperation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &pending{others{fails: errors.New("a member is gone")}, make(chan struct{})}
		b := New(Bound{Bytes: 4, Delay: time.Hour}, Reducer[int32](p))
		var vectors [3]Vector[int32]
		for i := range vectors {
			if err := b.Add(&vectors[i], make([]int32, 1)); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		if len(p.lengths) != 2 {
			t.Fatalf("%d operations were begun, want 2", len(p.lengths))
		}
		select {
		case <-vectors[1].Done():
			t.Error("the second vector has ended, and its operation has not")
		default:
		}
		if err := b.Add(new(Vector[int32]), nil); !errors.Is(err, p.fails) {
			t.Errorf("Add returned %v, want %v", err, p.fails)
		}
		close(p.second)
		for i := range vectors {
			if <-vectors[i].Done(); !errors.Is(vectors[i].Err(), p.fails) {
				t.Errorf("vector %d ended with %v, want %v", i, vectors[i].Err(), p.fails)
			}
		}
		b.Join()
	})
}
