package torture

import (
	"context"
	"encoding/binary"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// shoot does one random thing to the target and returns how many additions it did.
func (w *writer) shoot(ctx context.Context, g int) (uint64, error) {
	owner := w.members[w.owner]
	at := gaspi.Remote{Rank: owner, Segment: w.id}
	words := w.rng.IntN(writerSpace/8 + 1)
	first := w.rng.IntN(writerSpace/8 - words + 1)
	src, err := w.source.Span(uint64(g*writerSpace), uint64(8*words))
	if err != nil {
		return 0, err
	}
	dst := at.Plus(uint64(64 + w.me*writerSpace + 8*first))
	note := gaspi.Notification{ID: gaspi.NotificationID(w.me), Value: gaspi.Value(g + 1)}
	if w.mutant("straggler") && g > 0 {
		note.Value-- // as if it had been sent in the generation before
	}
	switch w.rng.IntN(4) {
	case 0:
		return 0, w.post(ctx, w.rng, w.shots, func() error { return w.shots.Write(dst, src) })
	case 1:
		return 0, w.post(ctx, w.rng, w.shots, func() error { return w.shots.WriteNotify(dst, src, note) })
	case 2:
		return 0, w.post(ctx, w.rng, w.shots, func() error { return w.shots.Notify(at, note) })
	}
	short, cancel := w.cut(ctx, w.rng, 3)
	defer cancel()
	_, err = outcome(ctx)(w.p.FetchAdd(short, at, 1))
	if gaveUp(ctx, short, err) {
		return 0, nil // not applied
	}
	if err != nil || w.mutant("addition lost") {
		return 0, err
	}
	return 1, nil
}

// leave tells the owner that this writer has stopped, and how often it has added.
func (w *writer) leave(ctx context.Context, g int, done uint64) error {
	owner := w.members[w.owner]
	if w.quiet[g] {
		if err := w.settle(ctx, false); err != nil {
			return err
		}
		flush := func(ctx context.Context) error { return w.shots.Flush(ctx, owner) }
		if err := w.resume(ctx, w.rng, flush); err != nil {
			return err
		}
	}
	report := w.control.Bytes()[8*w.me:]
	binary.LittleEndian.PutUint64(report, done)
	src, err := w.control.Span(uint64(8*w.me), 8)
	if err != nil {
		return err
	}
	q, note := w.p.MustQueue(0), gaspi.Notification{ID: gaspi.NotificationID(1 + w.me), Value: gaspi.Value(g + 1)}
	err = w.post(ctx, w.rng, q, func() error { return q.WriteNotify(w.control.At(owner, src.Offset()), src, note) })
	if err != nil {
		return err
	}
	return w.await(ctx, w.rng, q)
}
