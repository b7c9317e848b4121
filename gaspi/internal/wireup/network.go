package wireup

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/boot"
	"github.com/gaspi-go/gaspi-go/internal/logging"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/internal/transport/mixed"
	"github.com/gaspi-go/gaspi-go/internal/transport/rdma"
	"github.com/gaspi-go/gaspi-go/internal/transport/shm"
	"github.com/gaspi-go/gaspi-go/internal/transport/tcp"
)

// shared is the way through memory.
func (d *dialer) shared() (transport.Transport, error) {
	wire, err := shm.Join(d.info.Rank, d.info.Size, d.Segments, d.findShared)
	if err != nil {
		return nil, err
	}
	wire.WaitWith(d.wait)
	d.own.Shared = wire.Address()
	return wire, nil
}

// tcp is the way through sockets; only says that there is no other.
func (d *dialer) tcp(only bool) (transport.Transport, error) {
	listen, err := d.addresses()
	if err != nil {
		return nil, err
	}
	ports, err := ports()
	if err != nil {
		return nil, err
	}
	wire, err := tcp.New(tcp.Config{
		Rank: d.info.Rank, Size: d.info.Size, IDs: d.Segments,
		Job: d.info.Job, Credentials: d.Session.Credentials(), TLS: os.Getenv(boot.EnvTLS) == "1",
		Listen: listen, Ports: ports, Congestion: os.Getenv(EnvCongestion), Silence: silence(),
		Lookup:     d.lookup(func(at whereabouts) string { return at.TCP }),
		Lost:       d.Lost,
		WaitPolicy: d.wait,
		Begin:      func(t *tcp.Transport) { d.pollWhileWaiting(t, only) },
		Log:        d.Log.With(logging.Part, logging.TCP),
	})
	if err != nil {
		return nil, err
	}
	d.own.TCP = wire.Address()
	return wire, nil
}

// network is the way to other hosts: RDMA to those that have it too, where this one
// has, and TCP to the others. only says that there is no other way.
func (d *dialer) network(only bool) (transport.Transport, error) {
	fast, err := d.rdma(only)
	if errors.Is(err, base.ErrNotSupported) {
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
	return mixed.New(fast, slow, func(ctx context.Context, r base.Rank) (bool, error) {
		at, err := d.find(ctx, r)
		return at.RDMA != "", err
	}), nil
}

// rdma is the way through a network card; only says that there is no other. It is
// made before that through sockets, whose Begin changes how this rank waits: nobody can
// reach this one before its address is published.
func (d *dialer) rdma(only bool) (transport.Transport, error) {
	if os.Getenv(boot.EnvTLS) == "1" {
		return nil, fmt.Errorf("transport rdma: %w: it encrypts nothing; use tcp, or do without --tls", base.ErrNotSupported)
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
		Rank: d.info.Rank, Size: d.info.Size, IDs: d.Segments,
		Provider: d.Provider, Source: source, Ports: ports,
		Lookup: func(ctx context.Context, r base.Rank) (string, error) {
			at, err := d.find(ctx, r)
			if err == nil && at.RDMA == "" {
				err = fmt.Errorf("%w: rank %d has no RDMA: give all ranks the same transport", base.ErrMismatch, r)
			}
			return at.RDMA, err
		},
		Lost:       d.Lost,
		WaitPolicy: d.wait,
		Begin: func(t *rdma.Transport) {
			d.pollWhileWaiting(t, only)
			if only {
				d.yieldLonger()
			}
		},
		Log: d.Log.With(logging.Part, logging.RDMA),
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
	d.Log.With(logging.Part, logging.Boot).Info("gaspi: "+line, "rank", d.info.Rank)
	if os.Getenv(boot.EnvVerbose) == "1" && d.info.LocalRank == 0 {
		d.Say("gaspi: " + line)
	}
}
