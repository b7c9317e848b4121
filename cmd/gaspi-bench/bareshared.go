package main

import (
	"context"
	"slices"

	"github.com/gaspi-go/gaspi-go/internal/reduce"
)

// vectors are the memory of one call on all ranks, as this rank addresses it.
// Where an operation works in place, in and out are the same.
type vectors struct{ in, out [][]byte }

func (v *vectors) piece(p piece) []byte {
	if p.out {
		return v.out[p.rank][p.off : p.off+p.n]
	}
	return v.in[p.rank][p.off : p.off+p.n]
}

// A job is a move that is bound to memory.
type job struct{ dst, src [][]byte }

func (v *vectors) jobs(moves []move) []job {
	var all []job
	for _, m := range moves {
		var j job
		for _, p := range m.dst {
			j.dst = append(j.dst, v.piece(p))
		}
		for _, p := range m.src {
			j.src = append(j.src, v.piece(p))
		}
		all = append(all, j)
	}
	return all
}

// worker does jobs. fold is nil if all of them copy.
type worker struct {
	fold fold
	temp []byte
	part [][]byte
}

// workBlock is how many bytes of all operands are worked on at a time: what was
// read and written stays in a near cache until it is written once more.
const workBlock = 32 << 10

func newWorker(fold fold) *worker {
	return &worker{fold: fold, temp: reduce.BytesOf(make([]complex128, workBlock/16))}
}

// work does jobs, all of whose operands are of one length or which do not depend
// on each other.
func (w *worker) work(jobs []job) {
	longest := 0
	for i := range jobs {
		longest = max(longest, len(jobs[i].dst[0]))
	}
	for at := 0; at < longest; at += workBlock {
		for i := range jobs {
			if n := min(workBlock, len(jobs[i].dst[0])-at); n > 0 {
				w.block(&jobs[i], at, n)
			}
		}
	}
}

func (w *worker) block(j *job, at, n int) {
	first := j.src[0][at : at+n]
	if len(j.src) > 1 {
		w.part = w.part[:0]
		for _, s := range j.src {
			w.part = append(w.part, s[at:at+n])
		}
		// A fold may write what it reads, but not if that comes late.
		to := j.dst[0][at : at+n]
		late := slices.ContainsFunc(j.src[min(2, len(j.src)):], func(s []byte) bool { return &s[at] == &to[0] })
		if late {
			to = w.temp[:n]
		}
		w.fold(to, w.part)
		first = to
	}
	for _, d := range j.dst {
		if to := d[at : at+n]; &to[0] != &first[0] {
			copy(to, first)
		}
	}
}

// sharing is a collective operation by ranks that work on each other's memory, with
// bare flags around: one says that a rank's vectors may be touched, the other that
// whoever touched them has finished.
type sharing struct {
	*worker
	b     *bench
	seq   counter
	jobs  []job
	ready []flag // raised by those whose memory this rank touches
	chime []flag // of those, raised when it has finished
	bell  []flag // of those who touch this rank's memory, raised when they may
	done  []flag // raised by those
}

// newSharing binds moves, a function of the rank, to memory. area is what flags of
// this limit alone lie in.
func newSharing(b *bench, area int, v *vectors, moves func(rank int) []move, fold fold) (*sharing, error) {
	me := int(b.p.Rank())
	s := &sharing{worker: newWorker(fold), b: b, jobs: v.jobs(moves(me))}
	mine := touches(moves(me))
	for r := range b.p.Size() {
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
func touches(moves []move) map[int]bool {
	all := make(map[int]bool)
	for _, m := range moves {
		for _, p := range slices.Concat(m.dst, m.src) {
			all[p.rank] = true
		}
	}
	return all
}

// call is the operation, once.
func (s *sharing) call(ctx context.Context) error {
	v := s.seq.next()
	for _, f := range s.bell {
		raise(f, v)
	}
	if err := s.b.awaitAll(ctx, s.ready, v); err != nil {
		return err
	}
	s.work(s.jobs)
	for _, f := range s.chime {
		raise(f, v)
	}
	return s.b.awaitAll(ctx, s.done, v)
}
