package gaspi

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/gaspi-go/gaspi-go/internal/boot"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/internal/transport/mixed"
	"github.com/gaspi-go/gaspi-go/internal/transport/rdma"
	"github.com/gaspi-go/gaspi-go/notify"
)

// A polledTransport is one that makes progress when those who wait poll it.
type polledTransport interface {
	Poll() bool
	Parker(p notify.Parker) notify.Parker
}

// pollWhileWaiting lets the waits of this rank poll t, besides what they poll already. only says
// that nothing arrives without.
func (d *dialer) pollWhileWaiting(t polledTransport, only bool) {
	w := d.waitPolicy
	poll := t.Poll
	if before := w.Poll; before != nil {
		poll = func() bool {
			moved := before()
			return t.Poll() || moved
		}
	}
	w.Poll, w.PollFirst = poll, only
	if only && w.Spin == 0 {
		d.yieldLonger()
	}
	w.Sleep = t.Parker(w.Sleep)
}

// yieldLonger is for waits that do the work of a thread as long as they last: to hand it
// over and to be woken costs more than a sleep does.
func (d *dialer) yieldLonger() {
	if d.cfg.Yield == 0 && d.cfg.Emulate == "" {
		d.waitPolicy.Yield = pollYield
	}
}

// network is the way to other hosts: RDMA to those that have it too, where this one
// has, and TCP to the others. only says that there is no other way.
func (d *dialer) network(only bool) (transport.Transport, error) {
	fast, err := d.rdma(only)
	if errors.Is(err, ErrNotSupported) {
		d.remark("no RDMA, ranks of other hosts are reached over TCP: " + err.Error())
		return d.tcp(only)
	}
	if err != nil {
		return nil, err
	}
	slow, err := d.tcp(only)
	if err != nil {
		_ = fast.Close()
		return nil, err
	}
	return mixed.New(fast, slow, func(ctx context.Context, r Rank) (bool, error) {
		at, err := d.find(ctx, r)
		return at.RDMA != "", err
	}), nil
}

// rdma is the way through a network card; only says that there is no other. It is
// made before that through sockets, whose Begin changes how this rank waits: nobody can
// reach this one before its address is published.
func (d *dialer) rdma(only bool) (transport.Transport, error) {
	if os.Getenv(boot.EnvTLS) == "1" {
		return nil, fmt.Errorf("transport rdma: %w: it encrypts nothing; use tcp, or do without --tls", ErrNotSupported)
	}
	source, err := d.addresses()
	if err != nil {
		return nil, err
	}
	ports, err := ports()
	if err != nil {
		return nil, err
	}
	wire, err := rdma.New(rdma.Config{
		Rank: d.info.Rank, Size: d.info.Size, IDs: d.cfg.segmentIDs(),
		Provider: d.cfg.RDMAProvider, Source: source, Ports: ports,
		Lookup: func(ctx context.Context, r Rank) (string, error) {
			at, err := d.find(ctx, r)
			if err == nil && at.RDMA == "" {
				err = fmt.Errorf("%w: rank %d has no RDMA: give all ranks the same transport", ErrMismatch, r)
			}
			return at.RDMA, err
		},
		Lost:       d.lost,
		WaitPolicy: d.waitPolicy,
		Begin: func(t *rdma.Transport) {
			d.pollWhileWaiting(t, only)
			if only {
				d.yieldLonger()
			}
		},
		Log: d.cfg.Log,
	})
	if err != nil {
		return nil, fmt.Errorf("transport rdma: %w", err)
	}
	d.own.RDMA = wire.Address()
	d.remark(fmt.Sprintf("rdma over %s: %s", wire.Provider(), wire.Reason()))
	return wire, nil
}

// remark tells users who want to know how ranks are connected, once per host.
func (d *dialer) remark(line string) {
	d.cfg.Log.Info("gaspi: " + line)
	if os.Getenv(boot.EnvVerbose) == "1" && d.info.LocalRank == 0 {
		say("gaspi: " + line)
	}
}
