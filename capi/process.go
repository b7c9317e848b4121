//go:build capi && cgo && linux

package main

// #include "bridge.h"
import "C"

import (
	"context"
	"sync"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// A joining is a start of this rank that may take several calls of gaspi_proc_init.
type joining struct {
	mu      sync.Mutex
	outcome chan joined // guarded by mu; nil unless one is under way
	spent   bool        // guarded by mu; this process has joined a job, which it cannot do again
}

// A joined is how a start has ended.
type joined struct {
	proc  *gaspi.Proc
	alone bool // nobody started it as a rank
	err   error
}

// begin starts to join the job, unless that is under way.
func (j *joining) begin(cfg gaspi.Config) <-chan joined {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.outcome == nil {
		outcome := make(chan joined, 1)
		j.outcome = outcome
		takeEnvironment()
		go func() {
			outcome <- join(cfg)
		}()
	}
	return j.outcome
}

// end forgets a start that has ended.
func (j *joining) end(how joined) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.outcome = nil
	j.spent = j.spent || how.err == nil && !how.alone
}

// over reports whether this process has been a rank of a job, which it cannot be again.
func (j *joining) over() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.spent
}

// join makes this process a rank. One that is alone gets memory files too: C keeps addresses of
// its segments, which the heap of Go is not for.
func join(cfg gaspi.Config) joined {
	p, err := gaspi.Init(context.Background(), cfg)
	if err != nil {
		return joined{err: err}
	}
	if name, err := p.Transport(p.Rank()); err != nil || name != "loopback" {
		return joined{proc: p, err: err}
	}
	if err := p.Close(); err != nil {
		return joined{err: err}
	}
	cfg.Transport = "shm"
	p, err = gaspi.Init(context.Background(), cfg)
	return joined{proc: p, alone: true, err: err}
}

// config returns the configuration of package gaspi for that of C. Numbers of groups and segments
// are larger, for those of calls that C knows nothing of. Entries of queues are counted in C.
func config(c *C.ggo_config) gaspi.Config {
	return gaspi.Config{
		Queues: int(c.queues), QueueDepth: 2 * int(c.queue_depth),
		Segments: 1024, Groups: int(c.groups) + extraGroups, Notifications: uint32(c.notifications),
		AllReduceElements: int(c.allreduce_elements), PassiveMax: int(c.passive_bytes),
		ListMax: int(c.list_entries), TransferMax: uint64(c.transfer_bytes),
	}
}

// ggo_init makes this process a rank. When the time is over it returns GASPI_TIMEOUT, and the
// next call goes on.
//
//export ggo_init
func ggo_init(c *C.ggo_config, ms uint64) int32 {
	s := library
	if s.joining.over() {
		return C.GASPI_ERROR
	}
	outcome := s.joining.begin(config(c))
	var limit <-chan time.Time
	if !endless(ms) {
		timer := time.NewTimer(time.Duration(ms) * time.Millisecond)
		defer timer.Stop()
		limit = timer.C
	}
	select {
	case j := <-outcome:
		s.joining.end(j)
		if j.err != nil {
			complain(j.err)
			return C.GASPI_ERR_ENV
		}
		s.open(j.proc)
		return C.GASPI_SUCCESS
	case <-limit:
		return C.GASPI_TIMEOUT
	}
}

// open fills the tables.
func (s *rankState) open(p *gaspi.Proc) {
	for _, n := range p.Queues() {
		s.queues[n].Store(p.MustQueue(n))
	}
	s.groups[0].Store(p.World())
	s.proc.Store(p)
	p.CountMapped(counted(p.Size()))
}

// ggo_term ends this process's part in the job. Memory of segments stays mapped: other threads
// may be in calls that look at it.
//
//export ggo_term
func ggo_term() int32 {
	s := library
	p := s.proc.Swap(nil)
	if p == nil {
		return C.GASPI_ERR_NOINIT
	}
	s.handles.abandon()
	for id := range ids {
		if seg := s.segments[id].Swap(nil); seg != nil {
			s.maps.retire(seg)
		}
		s.groups[id].Store(nil)
		s.queues[id].Store(nil)
	}
	if err := p.Close(); err != nil {
		return C.GASPI_ERROR
	}
	return C.GASPI_SUCCESS
}

// ggo_get_place tells C who this rank is.
//
//export ggo_get_place
func ggo_get_place(out *C.ggo_place) {
	p := library.proc.Load()
	out.rank, out.size = C.int32_t(p.Rank()), C.int32_t(p.Size())
	out.local_rank, out.local_size = C.int32_t(p.LocalRank()), C.int32_t(p.LocalSize())
	out.looks = spareLooks
	if p.LocalSize() > p.LocalCores() {
		out.looks, out.shares = 1, 1
	}
	other := (p.Rank() + 1) % gaspi.Rank(p.Size())
	if name, err := p.Transport(other); err != nil || name != "shm" || p.LocalSize() != p.Size() {
		out.polls = 1
	}
}

// spareLooks is how often a wait of C looks before it calls Go where every local rank has a core,
// about 2 us.
const spareLooks = 64

// ggo_kill kills a rank.
//
//export ggo_kill
func ggo_kill(r uint16, ms uint64) int32 {
	p := library.proc.Load()
	if p == nil {
		return C.GASPI_ERR_NOINIT
	}
	if ms == 0 {
		ms = block // a kill is told and not waited for
	}
	err := during(ms, func(ctx context.Context) error { return p.Kill(ctx, gaspi.Rank(r)) })
	library.lost.mark(p)
	return code(err)
}

// ggo_acknowledge notes that the program knows which ranks are lost, from a state vector of n entries. Waits for
// notifications fail because of these no more.
//
//export ggo_acknowledge
func ggo_acknowledge(v *C.gaspi_state_t, n uint32) {
	p := library.proc.Load()
	for r, state := range statesAt(v, n) {
		if p != nil && state == C.GASPI_STATE_CORRUPT {
			_ = p.ResetState(gaspi.Rank(r)) // there is such a rank
		}
	}
}

// ggo_ping asks whether a rank is there.
//
//export ggo_ping
func ggo_ping(r uint16, ms uint64) int32 {
	p := library.proc.Load()
	if p == nil {
		return C.GASPI_ERR_NOINIT
	}
	return code(during(ms, func(ctx context.Context) error { return p.Ping(ctx, gaspi.Rank(r)) }))
}
