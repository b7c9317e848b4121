package measure

import (
	"context"
	"time"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/report"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/gaspi/emulation"
	"github.com/gaspi-go/gaspi-go/internal/sys"
)

// Carried is how punctual the emulated network of all ranks together was since the last
// call, the same on all of them; false if none is emulated. All ranks call it.
func (b *Bench) Carried(ctx context.Context) (emulation.Punctuality, bool, error) {
	return b.ofAll(ctx, b.P.Emulation().Restart())
}

// ofAll is carried for what each rank has seen itself.
func (b *Bench) ofAll(ctx context.Context, own emulation.Punctuality) (emulation.Punctuality, bool, error) {
	if _, ok := b.P.Emulation().Network(); !ok {
		return emulation.Punctuality{}, false, nil
	}
	sums := []int64{int64(own.Delivered.Events), int64(own.Delivered.Late), int64(own.Noticed.Events), int64(own.Noticed.Late)}
	worst := []int64{
		int64(own.Delivered.P50), int64(own.Delivered.P99), int64(own.Noticed.P50), int64(own.Noticed.P99), 0,
	}
	if own.Humble {
		worst[4] = 1
	}
	if err := gaspi.AllReduce(ctx, b.P.World(), sums, sums, gaspi.Sum); err != nil {
		return own, true, err
	}
	if err := gaspi.AllReduce(ctx, b.P.World(), worst, worst, gaspi.Max); err != nil {
		return own, true, err
	}
	late := func(i int, limit time.Duration) emulation.Lateness {
		return emulation.Lateness{
			Events: uint64(sums[i]), Late: uint64(sums[i+1]), Limit: limit,
			P50: time.Duration(worst[i]), P99: time.Duration(worst[i+1]),
		}
	}
	return emulation.Punctuality{
		Delivered: late(0, own.Delivered.Limit), Noticed: late(2, own.Noticed.Limit), Humble: worst[4] != 0,
	}, true, nil
}

// stampEmulated says in rows what network was emulated, and whether the host carried it.
func (b *Bench) stampEmulated(ctx context.Context, rows []report.Row) error {
	return b.StampPunctual(ctx, rows, b.P.Emulation().Restart())
}

// StampPunctual is stampEmulated for what each rank has seen itself.
func (b *Bench) StampPunctual(ctx context.Context, rows []report.Row, own emulation.Punctuality) error {
	p, emulated, err := b.ofAll(ctx, own)
	if err != nil || !emulated {
		return err
	}
	b.Punctual = b.Punctual.Merge(p)
	network, _ := b.P.Emulation().Network()
	for i := range rows {
		rows[i].Emulated, rows[i].Invalid = network.String(), !p.Valid()
		rows[i].LateShare = max(p.Delivered.Share(), p.Noticed.Share())
	}
	return nil
}

// Instant agrees on a time of the host's clock at which all ranks can begin.
func (b *Bench) Instant(ctx context.Context) (int64, error) {
	now, err := sys.Monotonic()
	if err != nil {
		return 0, err
	}
	network, _ := b.P.Emulation().Network()
	begin := []int64{now + int64(headStart+4*network.Latency)}
	err = gaspi.AllReduce(ctx, b.P.World(), begin, begin, gaspi.Max)
	return begin[0], err
}

// headStart is enough for all ranks to hear when they begin, and to fall asleep.
const headStart = 2 * time.Millisecond
