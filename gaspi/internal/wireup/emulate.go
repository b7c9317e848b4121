package wireup

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/gaspi/emulation"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/internal/transport/emulate"
	"github.com/gaspi-go/gaspi-go/internal/transport/shm"
	"github.com/gaspi-go/gaspi-go/notify"
	"github.com/gaspi-go/gaspi-go/segment"
)

// emulateApart emulates a network between processes of this host.
func (d *dialer) emulateApart(wire transport.Transport) (transport.Transport, error) {
	if d.info.LocalSize != d.info.Size {
		_ = wire.Close()
		return nil, fmt.Errorf("%w: an emulated network is of ranks on one host, and only %d of %d are on this one", base.ErrNotSupported, d.info.LocalSize, d.info.Size)
	}
	cards, err := shm.Join(d.info.Rank, d.info.Size, 1, d.lookup(func(at whereabouts) string { return at.Card }))
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
	network, err := emulation.Parse(d.Emulate)
	if err != nil {
		return nil, errors.Join(err, wire.Close(), cards.Close())
	}
	t, err := emulate.New(emulate.Config{
		Rank: d.info.Rank, Size: d.info.Size, Inner: wire, Shared: cards, Network: network, WaitPolicy: d.wait, Lost: d.Fallen,
		Memory: func(size uint64, notifications uint32) (*segment.Segment, error) {
			return memory(size, notifications, d.wait)
		},
	})
	if err != nil {
		return nil, err
	}
	d.wait.Sleep = t.Parker(d.wait.Sleep)
	return t, nil
}
