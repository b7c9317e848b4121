// Package wireup connects a rank with the others of its job: it chooses the transports, opens
// them, publishes where the rank is reached, finds out where others are, and sets how the rank
// waits on what it has opened. It is the one place that names transports.
//
// Open does so for a rank whose peers are processes, and Process.Open for one whose peers are
// goroutines of the same process. Neither waits for a peer.
package wireup

import (
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/gaspi/emulation"
	"github.com/gaspi-go/gaspi-go/internal/boot"
	"github.com/gaspi-go/gaspi-go/internal/sys/socket"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/internal/transport/emulate"
	"github.com/gaspi-go/gaspi-go/internal/transport/loopback"
	"github.com/gaspi-go/gaspi-go/internal/transport/mixed"
	"github.com/gaspi-go/gaspi-go/notify"
	"github.com/gaspi-go/gaspi-go/segment"
)

// A Wiring says how a rank is to be connected. The fields of Config have been checked.
type Wiring struct {
	Session boot.Session

	Transport string // "auto", "shm", "tcp", "rdma" or "loopback"
	Provider  string // of libfabric, for rdma; "" for the first with a network card
	Interface string // as address.Choose takes it
	Emulate   string // as emulation.Parse takes it; "" for no emulated network
	Segments  int    // how many segment ids there are

	Spin, Yield time.Duration // as Config has them: 0 for the default, negative for none

	InterfaceFrom string // the variable or field that Interface is from, for errors

	// Lost hears of ranks whose connection broke, Fallen of those whose emulated host is silent.
	// Both may be called before Open has returned, by any goroutine, and do not block.
	Lost, Fallen func(*base.RankError)

	Log *slog.Logger
	Say func(line string) // writes a line for users to standard error
}

// An Endpoint is a rank's side of its connections.
type Endpoint struct {
	transport.Transport
	// Wait is how the rank waits. It does not change.
	Wait *notify.WaitPolicy

	// Location is what the rank tells all others of where it is: see package topology.
	Location string

	apart bool // peers are processes
	d     *dialer
}

// Learn takes the locations that all ranks have told, nil if they are not known.
func (e *Endpoint) Learn(locations []string) { e.d.told.Store(&locations) }

// A dialer opens the transports of one rank.
type dialer struct {
	Wiring
	info boot.Info
	wait *notify.WaitPolicy
	own  whereabouts              // what is published
	told atomic.Pointer[[]string] // locations of all ranks, once they have met
}

// Open connects a rank whose peers, if there are any, are processes.
func Open(s Wiring) (*Endpoint, error) {
	apart := s.Transport != "loopback"
	return newDialer(s, apart).endpoint(apart, (*dialer).open)
}

func newDialer(s Wiring, apart bool) *dialer {
	d := &dialer{Wiring: s, info: s.Session.Info()}
	d.own.Host = d.info.Host
	d.wait = d.waitPolicy(apart)
	return d
}

// endpoint is what open opens.
func (d *dialer) endpoint(apart bool, open func(*dialer) (transport.Transport, error)) (*Endpoint, error) {
	t, err := open(d)
	if err != nil {
		return nil, err
	}
	return &Endpoint{Transport: t, Wait: d.wait, Location: d.location(), apart: apart, d: d}, nil
}

// open opens the transport of a rank that has peers in other processes, and publishes where it is.
func (d *dialer) open() (transport.Transport, error) {
	switch size, local := d.info.Size, d.info.LocalSize; {
	case d.Transport == "loopback" && size > 1:
		return nil, fmt.Errorf("transport loopback connects ranks of one process only; this job has %d processes: use auto, shm or tcp", size)
	case d.Transport == "loopback":
		return loopback.NewHub(1, d.Segments).Join(0), nil
	case d.Transport == "shm" && local != size:
		return nil, fmt.Errorf("%w: transport shm connects ranks of one host, and only %d of %d are on this one: use auto or tcp", base.ErrNotSupported, local, size)
	}
	t, err := d.choose()
	if err == nil && d.Emulate != "" {
		t, err = d.emulateApart(t)
	}
	if err != nil {
		return nil, err
	}
	if err := d.publish(); err != nil {
		_ = t.Close()
		return nil, err
	}
	return t, nil
}

// choose takes memory if all ranks share it, the network if none do or it is asked
// for, and else both.
func (d *dialer) choose() (transport.Transport, error) {
	switch {
	case d.Transport == "tcp":
		return d.tcp(true)
	case d.Transport == "rdma":
		return d.rdma(true)
	case d.info.LocalSize == 1 && d.info.Size > 1:
		return d.network(true)
	}
	shared, err := d.shared()
	if err != nil || d.info.LocalSize == d.info.Size {
		return shared, err
	}
	far, err := d.network(false)
	if err != nil {
		_ = shared.Close()
		return nil, err
	}
	return mixed.New(shared, far, d.isNear), nil
}

// NewMemory makes the memory of a segment, zeroed, where peers can reach it.
func (e *Endpoint) NewMemory(size uint64, notifications uint32) (*segment.Segment, error) {
	if e.apart {
		return segment.Create(size, notifications, e.Wait)
	}
	return segment.New(size, notifications, e.Wait)
}

// sparseAt is the number of bytes from which sparse memory of ranks of one process is apart from the heap.
const sparseAt = 8 << 20

// NewSparse is NewMemory for memory of which most is never written.
func (e *Endpoint) NewSparse(size uint64, notifications uint32) (*segment.Segment, error) {
	if !e.apart && size+notify.Bytes(notifications) > sparseAt {
		return segment.Reserve(size, notifications, e.Wait)
	}
	return e.NewMemory(size, notifications)
}

// BindMemory makes a segment of the caller's memory, with a notification array that peers can
// reach.
func (e *Endpoint) BindMemory(mem []byte, notifications uint32) (*segment.Segment, error) {
	if e.apart {
		return segment.BindShared(mem, notifications, e.Wait)
	}
	return segment.Bind(mem, notifications, e.Wait)
}

// Via is the name of the transport that connects this rank with r.
func (e *Endpoint) Via(r base.Rank) (string, error) {
	way := e.Transport
	for {
		both, ok := way.(*mixed.Transport)
		if !ok {
			return way.Name(), nil
		}
		var err error
		if way, err = both.Via(r); err != nil {
			return "", err
		}
	}
}

// Emulation is what is known of the emulated network, if there is one.
func (e *Endpoint) Emulation() emulation.Status {
	if t, ok := e.Transport.(*emulate.Transport); ok {
		return emulation.Of(t)
	}
	return emulation.Status{}
}

// Hears reports whether something that rank r has sent may still arrive.
func (e *Endpoint) Hears(r base.Rank) bool {
	t, ok := e.Transport.(interface{ Hears(base.Rank) bool })
	return ok && t.Hears(r)
}

// Measure implements transport.Measurer where the transports of this rank do.
func (e *Endpoint) Measure(see func(r base.Rank, connection int, m socket.Metrics)) {
	if t, ok := e.Transport.(transport.Measurer); ok {
		t.Measure(see)
	}
}
