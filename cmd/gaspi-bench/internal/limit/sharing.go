package limit

import (
	"context"
	"slices"

	"github.com/gaspi-go/gaspi-go/internal/reduce"
	"github.com/gaspi-go/gaspi-go/segment"
)

// Vectors are the memory of one call on all ranks, as this rank addresses it.
// Where an operation works in place, in and out are the same.
type Vectors struct{ In, out [][]byte }

func (v *Vectors) piece(p Piece) []byte {
	if p.out {
		return v.out[p.Rank][p.Off : p.Off+p.N]
	}
	return v.In[p.Rank][p.Off : p.Off+p.N]
}

// A boundMove is a move that is bound to memory.
type boundMove struct {
	dst, src [][]byte
	// first is the destination that a fold writes while it still reads: none of the
	// sources but the first two. -1 if there is none.
	first int
}

func (v *Vectors) jobs(moves []Move) []boundMove {
	var all []boundMove
	for _, m := range moves {
		var j boundMove
		for _, p := range m.Dst {
			j.dst = append(j.dst, v.piece(p))
		}
		for _, p := range m.Src {
			j.src = append(j.src, v.piece(p))
		}
		all = append(all, j.aimed())
	}
	return all
}

func (j boundMove) aimed() boundMove {
	late := j.src[min(2, len(j.src)):]
	j.first = slices.IndexFunc(j.dst, func(d []byte) bool {
		return !slices.ContainsFunc(late, func(s []byte) bool { return same(s, d) })
	})
	return j
}

// same reports whether two vectors of one length are the same memory.
func same(a, b []byte) bool { return len(a) > 0 && &a[0] == &b[0] }

// worker does jobs. There are no folds if all of them copy.
type worker struct {
	Folds
	temp []byte
	part [][]byte
}

// Bytes of all operands of a job that are worked on at a time, so that what was
// folded or copied is in the nearest cache while it is stored once more. Copies so
// long that they had better go past the caches are left whole to segment.Copy.
const (
	workBlock = 16 << 10
	workWhole = 4 << 20
)

func newWorker(f Folds) *worker {
	return &worker{Folds: f, temp: reduce.BytesOf(make([]complex128, workBlock/16))}
}

// work does jobs. Those with folds have operands of one length, and each block goes
// through them in their order.
func (w *worker) work(jobs []boundMove) {
	if w.Fold == nil {
		for i := range jobs {
			w.copy(&jobs[i])
		}
		return
	}
	for at := 0; len(jobs) > 0 && at < len(jobs[0].dst[0]); at += workBlock {
		for i := range jobs {
			w.block(&jobs[i], at, min(workBlock, len(jobs[i].dst[0])-at))
		}
	}
}

func (w *worker) copy(j *boundMove) {
	n, src := len(j.dst[0]), j.src[0]
	if len(j.dst) == 1 || n >= workWhole {
		for _, d := range j.dst {
			segment.Copy(d, src)
		}
		return
	}
	for at := 0; at < n; at += workBlock {
		to := min(n, at+workBlock)
		for _, d := range j.dst {
			copy(d[at:to], src[at:to])
		}
	}
}

func (w *worker) block(j *boundMove, at, n int) {
	if len(j.src) == 2 && len(j.dst) == 2 {
		w.twice(j.dst[0][at:at+n], j.dst[1][at:at+n], j.src[0][at:at+n], j.src[1][at:at+n])
		return
	}
	sum := j.src[0][at : at+n]
	if len(j.src) > 1 {
		w.part = w.part[:0]
		for _, s := range j.src {
			w.part = append(w.part, s[at:at+n])
		}
		sum = w.temp[:n]
		if j.first >= 0 {
			sum = j.dst[j.first][at : at+n]
		}
		w.Fold(sum, w.part)
	}
	for _, d := range j.dst {
		if to := d[at : at+n]; !same(to, sum) {
			segment.Copy(to, sum)
		}
	}
}

// sharing is a collective operation by ranks that work on each other's memory, with
// bare flags around: one says that a rank's vectors may be touched, the other that
// whoever touched them has finished.
type sharing struct {
	*worker
	b     *Memory
	seq   Counter
	jobs  []boundMove
	ready []Flag // raised by those whose memory this rank touches
	chime []Flag // of those, raised when it has finished
	bell  []Flag // of those who touch this rank's memory, raised when they may
	done  []Flag // raised by those
}

// newSharing binds moves, a function of the rank, to memory. area is what flags of
// this limit alone lie in.
func newSharing(b *Memory, area int, v *Vectors, moves func(rank int) []Move, fold Folds) (*sharing, error) {
	me := int(b.P.Rank())
	s := &sharing{worker: newWorker(fold), b: b, jobs: v.jobs(moves(me))}
	mine := touches(moves(me))
	for r := range b.P.Size() {
		if r == me {
			continue
		}
		if mine[r] {
			if err := b.pair(area, r, boxReady, boxDone, &s.ready, &s.chime); err != nil {
				return nil, err
			}
		}
		if touches(moves(r))[me] {
			if err := b.pair(area, r, boxDone, boxReady, &s.done, &s.bell); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

// touches are the ranks whose memory moves read or write.
func touches(moves []Move) map[int]bool {
	all := make(map[int]bool)
	for _, m := range moves {
		for _, p := range slices.Concat(m.Dst, m.Src) {
			all[p.Rank] = true
		}
	}
	return all
}

// call is the operation, once.
func (s *sharing) call(ctx context.Context) error {
	v := s.seq.Next()
	for _, f := range s.bell {
		Raise(f, v)
	}
	if err := s.b.awaitAll(ctx, s.ready, v); err != nil {
		return err
	}
	s.work(s.jobs)
	for _, f := range s.chime {
		Raise(f, v)
	}
	return s.b.awaitAll(ctx, s.done, v)
}
