package prove

import (
	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// stepsOf are the steps of a lane. A rank without lanes has one of no steps.
func (k *check) stepsOf(l *lane) schedule.Lane {
	if s := k.plans[l.rank].Lanes; int(l.lane) < len(s) {
		return s[l.lane]
	}
	return nil
}

// advance walks a lane until it ends or must wait.
func (k *check) advance(l *lane) error {
	steps := k.stepsOf(l)
	for l.at < len(steps) {
		l.now++
		id := int32(len(k.events))
		k.events = append(k.events, access{
			run: int32(k.run), rank: l.rank, lane: l.lane, step: int32(l.at), mark: mark{l.id, l.now}, sent: -1,
		})
		e, step := &k.events[id], &steps[l.at]
		if step.Kind == schedule.Await || step.Kind == schedule.AwaitCredit {
			waits, err := k.waits(l, e, step)
			if err != nil {
				return err
			}
			k.events = k.events[:id] // nobody refers to awaits but by their marks
			if waits {
				l.now--
				return nil
			}
		} else if err := k.do(l, id, e, step); err != nil {
			return err
		}
		l.at++
	}
	return nil
}

// waits does an await of either kind, and reports whether it must wait.
func (k *check) waits(l *lane, e *access, step *schedule.Step) (bool, error) {
	if step.Kind == schedule.AwaitCredit {
		return false, k.awaitCredit(l, e, step)
	}
	return !k.await(l, e, step), nil
}

// do does a step that does not wait.
func (k *check) do(l *lane, id int32, e *access, step *schedule.Step) error {
	switch step.Kind {
	case schedule.Flush:
		l.flushes = append(l.flushes, l.now)
	case schedule.Signal:
		e.sent = k.send(l, id, step.Peer, true)
		return k.post(l, e, step.Peer, step.Slot, e.sent)
	case schedule.Credit:
		if k.opts.Depth.Credits(k.run) {
			l.flushes = append(l.flushes, l.now)
			e.sent = k.send(l, id, step.Peer, true)
			return k.post(l, e, step.Peer, step.Slot, e.sent)
		}
	case schedule.Put:
		e.sent = k.send(l, id, step.Peer, false)
		if err := k.fold(l, id, step); err != nil {
			return err
		}
		if step.Slot != schedule.NoSlot {
			return k.post(l, e, step.Peer, step.Slot, e.sent)
		}
		k.forget(&k.sent[e.sent])
	case schedule.Combine:
		return k.fold(l, id, step)
	case schedule.Encode, schedule.Decode:
		return k.code(l, id, step)
	}
	return nil
}

// send notes a put or signal.
func (k *check) send(l *lane, id, peer int32, signal bool) int32 {
	f := l.fences[peer]
	if f == nil {
		f = k.fencePool.next()
		f.signals = f.signals[:0]
		l.fences[peer] = f
	}
	at := int32(len(k.sent))
	k.sent = append(k.sent, sent{event: id, clock: l.base.hold(), flush: len(l.flushes), signal: signal, after: len(f.signals), fence: f})
	if signal {
		f.signals = append(f.signals, at)
	}
	return at
}

// fold reads the sources of a step, folds them and writes the destinations.
func (k *check) fold(l *lane, id int32, step *schedule.Step) error {
	if step.Src[0].Len == 0 {
		return nil
	}
	for len(k.pieces) < len(step.Src) {
		k.pieces = append(k.pieces, nil)
	}
	for i, r := range step.Src {
		p, err := k.read(l, id, r, k.pieces[i][:0])
		if err != nil {
			return err
		}
		k.pieces[i] = p
	}
	result := k.pieces[0]
	if len(step.Src) > 1 {
		k.folded = k.foldPieces(k.folded[:0], k.pieces[:len(step.Src)])
		result = k.folded
		for _, p := range result {
			if p.held.seq == poison {
				return k.errorAt(&k.events[id], Contents, "folds a coded form")
			}
		}
	}
	for _, r := range step.Dst {
		if err := k.write(l, id, r, result); err != nil {
			return err
		}
	}
	return nil
}

// foldPieces appends the fold of sources that have the same number of elements.
// Poison stands where one of them is a coded form.
func (k *check) foldPieces(dst []piece, srcs [][]piece) []piece {
	k.at, k.used = zeros(k.at, len(srcs)), zeros(k.used, len(srcs))
	at, used := k.at, k.used // the piece of each source, and elements of it
	for at[0] < len(srcs[0]) {
		n := srcs[0][at[0]].n - used[0]
		for i, s := range srcs {
			n = min(n, s[at[i]].n-used[i])
		}
		var sum foldedValue
		for i, s := range srcs {
			v := s[at[i]].held
			v.delta += used[i]
			switch {
			case k.terms.nodes[v.seq].kind == 'c':
				sum = foldedValue{}
			case i == 0:
				sum = v
			case sum.seq != poison:
				sum = k.terms.join(sum, v)
			}
			if used[i] += n; used[i] == s[at[i]].n {
				at[i], used[i] = at[i]+1, 0
			}
		}
		dst = append(dst, piece{n, sum})
	}
	return dst
}

// code does an Encode or a Decode.
func (k *check) code(l *lane, id int32, step *schedule.Step) error {
	var from []piece
	if step.Src[0].Len > 0 {
		p, err := k.read(l, id, step.Src[0], nil)
		if err != nil {
			return err
		}
		from = p
	}
	dst := step.Dst[0]
	if step.Kind == schedule.Encode {
		for _, p := range from {
			if k.terms.nodes[p.held.seq].kind == 'c' {
				return k.errorAt(&k.events[id], Contents, "encodes a coded form")
			}
		}
		return k.write(l, id, dst, []piece{{dst.Len, foldedValue{k.terms.encode(from, dst.Len), 0}}})
	}
	if n := k.terms.nodes[from[0].held.seq]; len(from) == 1 && n.kind == 'c' && from[0].held.delta == 0 {
		if c := k.terms.codes[n.code]; c.length <= from[0].n && total(c.pieces) == dst.Len {
			if dst.Len == 0 {
				return nil
			}
			return k.write(l, id, dst, c.pieces)
		}
	}
	return k.errorAt(&k.events[id], Contents, "the source is not the coded form of %d elements", dst.Len)
}

// total is how many elements pieces have.
func total(pieces []piece) int {
	n := 0
	for _, p := range pieces {
		n += p.n
	}
	return n
}
