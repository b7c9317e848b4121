package limit

import (
	"context"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/segment"
)

// mailing is a collective operation by ranks that send each other what they
// contribute: a bare copy and a flag, in one cache line if it is short. Parcels of
// even and odd calls have places of their own, so that a flag is all there is to
// wait for; who gets nothing back waits for a credit of the call before the last.
type mailing struct {
	*worker
	b       *Memory
	seq     Counter
	parcels []parcel
	flags   [2][]Flag // raised by the senders of what this rank gets
	jobs    [2][]boundMove
	credits []Flag // raised by those who got a parcel and send none
	thanks  []Flag // of those who sent one and get none
}

// A parcel is what this rank sends to another.
type parcel struct {
	src  []byte
	dst  [2][]byte
	bell [2]Flag
}

// mailable reports whether all that ranks need of each other is short enough to be
// sent that way.
func (s *CallShape) mailable() bool {
	for r := range s.Ranks {
		for _, m := range s.Whole(r) {
			for _, p := range m.Src {
				if p.Rank != r && p.N > parcelMost {
					return false
				}
			}
		}
	}
	return true
}

// newMailing binds moves, a function of the rank that writes nothing of others, to
// memory.
func newMailing(b *Memory, area int, v *Vectors, moves func(rank int) []Move, fold Folds) (*mailing, error) {
	me := int(b.P.Rank())
	m := &mailing{worker: newWorker(fold), b: b}
	inbox := make(map[Piece][2][]byte) // what comes from others
	for r := range b.P.Size() {
		if r == me {
			continue
		}
		sends, gets := sources(moves(r), me), sources(moves(me), r)
		for _, p := range sends {
			if err := m.send(area, r, v.piece(p)); err != nil {
				return nil, err
			}
		}
		for _, p := range gets {
			mem, err := m.get(area, r, p.N)
			if err != nil {
				return nil, err
			}
			inbox[p] = mem
		}
		var err error
		var none []Flag
		switch {
		case len(sends) > 0 && len(gets) == 0:
			err = b.pair(area, r, boxCredit, boxCredit, &m.credits, &none)
		case len(gets) > 0 && len(sends) == 0:
			err = b.pair(area, r, boxCredit, boxCredit, &none, &m.thanks)
		}
		if err != nil {
			return nil, err
		}
	}
	m.bind(v, moves(me), inbox)
	return m, nil
}

// sources are what moves read of rank r; of every two ranks, each sends the other
// one parcel at most.
func sources(moves []Move, r int) []Piece {
	for _, m := range moves {
		for _, p := range m.Src {
			if p.Rank == r && p.N > 0 {
				return []Piece{p}
			}
		}
	}
	return nil
}

// bind makes the jobs, which read from the boxes what others contribute.
func (m *mailing) bind(v *Vectors, moves []Move, inbox map[Piece][2][]byte) {
	for odd := range 2 {
		for _, mv := range moves {
			if mv.Dst[0].N == 0 {
				continue
			}
			j := boundMove{dst: [][]byte{v.piece(mv.Dst[0])}}
			for _, p := range mv.Src {
				src, far := inbox[p]
				if !far {
					src[odd] = v.piece(p)
				}
				j.src = append(j.src, src[odd])
			}
			m.jobs[odd] = append(m.jobs[odd], j.aimed())
		}
	}
}

func (m *mailing) send(area, r int, src []byte) error {
	p := parcel{src: src}
	for odd := range p.dst {
		at := m.b.box(area, int(m.b.P.Rank())) + boxParcel + uint64(odd)*parcelStep
		flags, err := m.b.Flags(gaspi.Rank(r), at, 1)
		if err != nil {
			return err
		}
		span, err := m.b.Map(m.b.Seg, gaspi.Rank(r), at+parcelAt, uint64(len(src)))
		if err != nil {
			return err
		}
		p.bell[odd], p.dst[odd] = &flags[0], span.Bytes()
	}
	m.parcels = append(m.parcels, p)
	return nil
}

func (m *mailing) get(area, r, n int) (mem [2][]byte, err error) {
	for odd := range mem {
		at := m.b.box(area, r) + boxParcel + uint64(odd)*parcelStep
		flags, err := m.b.Flags(m.b.P.Rank(), at, 1)
		if err != nil {
			return mem, err
		}
		span, err := m.b.Seg.Span(at+parcelAt, uint64(n))
		if err != nil {
			return mem, err
		}
		m.flags[odd] = append(m.flags[odd], &flags[0])
		mem[odd] = span.Bytes()
	}
	return mem, nil
}

// call is the operation, once.
func (m *mailing) call(ctx context.Context) error {
	v := m.seq.Next()
	odd := m.seq.n & 1
	if m.seq.n > 2 {
		if err := m.b.awaitAll(ctx, m.credits, v-2); err != nil {
			return err
		}
	}
	for i := range m.parcels {
		p := &m.parcels[i]
		segment.Copy(p.dst[odd], p.src)
		Raise(p.bell[odd], v)
	}
	if err := m.b.awaitAll(ctx, m.flags[odd], v); err != nil {
		return err
	}
	m.work(m.jobs[odd])
	for _, f := range m.thanks {
		Raise(f, v)
	}
	return nil
}
