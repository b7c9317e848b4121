package gaspi

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"

	"github.com/gaspi-go/gaspi-go/internal/boot"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/internal/transport/loopback"
	"github.com/gaspi-go/gaspi-go/internal/transport/shm"
	"github.com/gaspi-go/gaspi-go/notify"
	"github.com/gaspi-go/gaspi-go/segment"
)

// This file is the one place that names transports and chooses between them.

// overlay fills fields that the program left open from the environment.
func (c Config) overlay() Config {
	if c.Transport == "" {
		c.Transport = os.Getenv("GASPI_TRANSPORT")
	}
	return c
}

// dial makes the transport of a rank that a launcher started.
func dial(ctx context.Context, cfg Config, session boot.Session) (transport.Transport, error) {
	info := session.Info()
	if cfg.Transport == "loopback" && info.Size > 1 {
		return nil, fmt.Errorf("transport loopback connects ranks of one process only; this job has %d processes: use auto or shm", info.Size)
	}
	if cfg.Transport == "loopback" {
		return loopback.NewHub(1, cfg.Segments+1).Join(0), nil
	}
	if info.LocalSize != info.Size {
		return nil, fmt.Errorf("%w: only %d of %d ranks are on this host, and no transport connects hosts", ErrNotSupported, info.LocalSize, info.Size)
	}
	wire, err := joinShared(ctx, cfg, session)
	if err != nil {
		return nil, err
	}
	wire.WaitWith(newWaiting(cfg, info, wire))
	return wire, nil
}

// joinShared makes the transport of a rank whose peers are on this host, and meets
// them.
func joinShared(ctx context.Context, cfg Config, session boot.Session) (*shm.Transport, error) {
	info := session.Info()
	var all [][]byte
	find := func(_ context.Context, r Rank) (string, error) { return string(all[r]), nil }
	wire, err := shm.Join(info.Rank, info.Size, cfg.Segments+1, find)
	if err != nil {
		return nil, err
	}
	if all, err = session.Exchange(ctx, "shm", []byte(wire.Address())); err != nil {
		_ = wire.Close()
		return nil, err
	}
	return wire, nil
}

// initAlone makes the only rank of a job without a launcher.
func initAlone(ctx context.Context, cfg Config) (*Proc, error) {
	session := boot.NewLocal(1).Session(0)
	var wire transport.Transport = loopback.NewHub(1, cfg.Segments+1).Join(0)
	if cfg.Transport == "shm" {
		var err error
		if wire, err = joinShared(ctx, cfg, session); err != nil {
			return nil, &OpError{Op: "init", Err: err}
		}
	}
	p, err := start(ctx, cfg, session, wire)
	if err != nil {
		return nil, &OpError{Op: "init", Err: err}
	}
	return p, nil
}

// newWaiting says how this rank waits.
func newWaiting(cfg Config, info boot.Info, wire transport.Transport) *notify.Waiting {
	spin, yield := cfg.spinTime(info.LocalSize, localCores()), cfg.yieldTime()
	if wire.Name() == "loopback" {
		return notify.AmongGoroutines(spin, yield)
	}
	return notify.AmongProcesses(spin, yield)
}

// LocalCores is how many cores the ranks of this host share.
func (p *Proc) LocalCores() int { return localCores() }

// localCores is how many cores the ranks of this host share. The launcher says
// it, because a rank that is bound to one core sees only that one.
func localCores() int {
	if n, err := strconv.Atoi(os.Getenv(boot.EnvLocalCores)); err == nil && n > 0 {
		return n
	}
	return runtime.GOMAXPROCS(0)
}

// newMemory makes a segment's memory where the transport's peers can reach it.
func (p *Proc) newMemory(size uint64, notifications uint32) (*segment.Segment, error) {
	if p.wire.Name() == "loopback" {
		return segment.New(size, notifications, p.waiting)
	}
	return segment.Create(size, notifications, p.waiting)
}

// bindMemory makes a segment of caller-owned memory, with a board that peers can
// reach.
func (p *Proc) bindMemory(mem []byte, notifications uint32) (*segment.Segment, error) {
	if p.wire.Name() == "loopback" {
		return segment.Bind(mem, notifications, p.waiting)
	}
	return segment.BindShared(mem, notifications, p.waiting)
}
