package gaspi

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/gaspi-go/gaspi-go/gaspi/emulation"
	"github.com/gaspi-go/gaspi-go/internal/boot"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/internal/transport/emulate"
	"github.com/gaspi-go/gaspi-go/internal/transport/shm"
	"github.com/gaspi-go/gaspi-go/notify"
	"github.com/gaspi-go/gaspi-go/segment"
)

// Emulation returns what is known of the network that is emulated between the ranks, if one is: see
// Config.Emulate.
func (p *Proc) Emulation() emulation.Status {
	if t, ok := p.wire.(*emulate.Transport); ok {
		return emulation.Of(t)
	}
	return emulation.Status{}
}

// patient is how ranks wait for an emulated network: they sleep at once. A rank that polled
// would keep the cores from the threads that deliver, and a rank that yielded would get its
// core back only after the time slice of a rank that computes.
func patient() *notify.WaitPolicy {
	return &notify.WaitPolicy{YieldOnce: func() {}, Sleep: notify.Futex{}}
}

// emulateApart emulates a network between processes of this host.
func (d *dialer) emulateApart(wire transport.Transport) (transport.Transport, error) {
	if d.info.LocalSize != d.info.Size {
		_ = wire.Close()
		return nil, fmt.Errorf("%w: an emulated network is of ranks on one host, and only %d of %d are on this one", ErrNotSupported, d.info.LocalSize, d.info.Size)
	}
	cards, err := shm.Join(d.info.Rank, d.info.Size, 1, func(ctx context.Context, r Rank) (string, error) {
		at, err := d.find(ctx, r)
		return at.Card, err
	})
	if err != nil {
		_ = wire.Close()
		return nil, err
	}
	d.own.Card = cards.Address()
	// One more Go processor, for the thread that delivers.
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 1)
	return d.emulate(wire, cards, segment.Create)
}

// makeSegment makes memory of so many bytes with so many notifications.
type makeSegment func(size uint64, notifications uint32, w *notify.WaitPolicy) (*segment.Segment, error)

// emulate emulates a network on top of wire, between cards in memory that all ranks
// reach. It closes both if it fails.
func (d *dialer) emulate(wire, cards transport.Transport, memory makeSegment) (transport.Transport, error) {
	network, err := emulation.Parse(d.cfg.Emulate)
	if err != nil {
		return nil, errors.Join(err, wire.Close(), cards.Close())
	}
	t, err := emulate.New(emulate.Config{
		Rank: d.info.Rank, Size: d.info.Size, Inner: wire, Shared: cards, Network: network, WaitPolicy: d.waitPolicy, Lost: d.fallen,
		Memory: func(size uint64, notifications uint32) (*segment.Segment, error) {
			return memory(size, notifications, d.waitPolicy)
		},
	})
	if err != nil {
		return nil, err
	}
	d.waitPolicy.Sleep = t.Parker(d.waitPolicy.Sleep)
	return t, nil
}

// fallen hears of ranks whose emulated host has fallen silent. It stands for whoever
// started them, who would say so of a host.
func (d *dialer) fallen(err *RankError) {
	d.tell(func(p *Proc) { p.noteEnd(boot.Failure{Rank: err.Rank, Reason: err.Reason}) })
}

// emulate emulates a network between ranks of this process.
func (j *localJob) emulate(d *dialer, wire transport.Transport) (transport.Transport, error) {
	return d.emulate(wire, j.cards.Join(d.info.Rank), segment.New)
}

// roomForCards gives this process Go processors for n ranks that sleep in the system
// and for the threads that deliver, until the function that it returns is called.
func roomForCards(n int) (restore func()) {
	before := runtime.GOMAXPROCS(0)
	runtime.GOMAXPROCS(before + 2*n)
	return func() { runtime.GOMAXPROCS(before) }
}
