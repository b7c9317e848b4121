package wireup

import (
	"runtime"
	"strconv"

	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/internal/transport/loopback"
	"github.com/gaspi-go/gaspi-go/segment"
)

// A Process connects ranks that are goroutines of this process.
type Process struct {
	hub     *loopback.Hub
	cards   *loopback.Hub         // of the emulated network; nil if there is none
	network transport.TestNetwork // between the ranks, in tests; nil elsewhere
	cores   int                   // Go processors to go back to; 0 if they were not changed
}

// NewProcess makes the connections of n ranks with so many segment ids. If a network is emulated,
// the process has more Go processors until Close: for ranks that sleep in the system, and for the
// threads that deliver.
func NewProcess(n, segments int, emulated bool, network transport.TestNetwork) *Process {
	p := &Process{hub: loopback.NewHub(n, segments), network: network}
	if emulated {
		p.cards = loopback.NewHub(n, 1)
		p.cores = runtime.GOMAXPROCS(0)
		runtime.GOMAXPROCS(p.cores + 2*n)
	}
	return p
}

// Close ends what NewProcess began, when all ranks have closed their endpoints.
func (p *Process) Close() {
	if p.cores > 0 {
		runtime.GOMAXPROCS(p.cores)
	}
}

// Open connects a rank of the process: over sockets if its Wiring says so, else through memory.
func (p *Process) Open(s Wiring) (*Endpoint, error) {
	return newDialer(s, false).endpoint(false, func(d *dialer) (transport.Transport, error) {
		rank := d.info.Rank
		if p.network != nil {
			d.own.Host = strconv.Itoa(p.network.Host(rank))
		}
		switch {
		case d.Transport == "tcp", d.Transport == "rdma":
			return d.open()
		case p.cards != nil:
			return d.emulate(p.hub.Join(rank), p.cards.Join(rank), segment.New)
		case p.network != nil:
			return p.network.Join(rank, p.hub.Join(rank), d.Lost)
		}
		return p.hub.Join(rank), nil
	})
}
