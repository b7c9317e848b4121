package gaspi

import (
	"fmt"

	"github.com/gaspi-go/gaspi-go/gaspi/emulation"
	"github.com/gaspi-go/gaspi-go/gaspi/internal/wireup"
	"github.com/gaspi-go/gaspi-go/internal/transport/rdma"
)

// A Way is one way in which ranks can reach each other from this host.
type Way struct {
	Transport string // as Config.Transport wants it
	Provider  string // of libfabric, as Config.RDMAProvider wants it; for rdma alone
	Device    string // for rdma alone
	// Chosen says that auto takes it: shm between ranks of a host, one of the others
	// between hosts, if the other host has it too.
	Chosen bool
	// Missing is why it cannot be used here, empty if it can.
	Missing string
}

// Ways are those that this program has on this host, best first. It connects to
// nobody. With transport rdma there is one for each device of each provider.
func Ways() []Way {
	ways := []Way{{Transport: "shm", Chosen: true}}
	providers, err := rdma.Providers()
	fast := false
	for _, p := range providers {
		ways = append(ways, Way{Transport: "rdma", Provider: p.Name, Device: p.Device, Chosen: p.Hardware && !fast})
		fast = fast || p.Hardware
	}
	if err != nil || len(providers) == 0 {
		missing := "libfabric has no provider that can be used here"
		if err != nil {
			missing = fmt.Sprint(err)
		}
		ways = append(ways, Way{Transport: "rdma", Missing: missing})
	}
	return append(ways, Way{Transport: "tcp", Chosen: !fast})
}

// Transport is the name of the transport that connects this rank with r.
func (p *Proc) Transport(r Rank) (string, error) {
	_, err := p.link(r)
	if err == nil {
		var name string
		if name, err = p.wire.Via(r); err == nil {
			return name, nil
		}
	}
	return "", &OpError{Op: "transport", Err: err}
}

// LocalCores is how many cores the ranks of this host share.
func (p *Proc) LocalCores() int { return wireup.LocalCores() }

// Emulation returns what is known of the network that is emulated between the ranks, if one is: see
// Config.Emulate.
func (p *Proc) Emulation() emulation.Status { return p.wire.Emulation() }
