package wireup

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net/netip"
	"os"
	"strings"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/gaspi/internal/topology"
	"github.com/gaspi-go/gaspi-go/internal/address"
	"github.com/gaspi-go/gaspi-go/internal/boot"
)

// A whereabouts is what a rank tells the others about how to reach it.
type whereabouts struct {
	Host   string `json:"host"`             // ranks of equal hosts share memory
	Shared string `json:"shared,omitempty"` // where its memory files are found
	TCP    string `json:"tcp,omitempty"`    // where it listens
	RDMA   string `json:"rdma,omitempty"`   // where its network card is reached
	Card   string `json:"card,omitempty"`   // where the memory of its emulated network card is found
}

// published is the name under which a rank's whereabouts are found.
const published = "whereabouts"

// publish tells the others where this rank is.
func (d *dialer) publish() error {
	text, err := json.Marshal(d.own)
	if err != nil {
		return err
	}
	return d.Session.Put(published, text)
}

// find is where rank r is.
func (d *dialer) find(ctx context.Context, r base.Rank) (whereabouts, error) {
	text, err := d.Session.Get(ctx, r, published)
	if err != nil {
		return whereabouts{}, err
	}
	var at whereabouts
	if err := json.Unmarshal(text, &at); err != nil {
		return whereabouts{}, fmt.Errorf("what rank %d says about where it is makes no sense: %w", r, err)
	}
	return at, nil
}

// lookup returns the function by which a transport finds out what rank r has published for it.
func (d *dialer) lookup(field func(whereabouts) string) func(ctx context.Context, r base.Rank) (string, error) {
	return func(ctx context.Context, r base.Rank) (string, error) {
		at, err := d.find(ctx, r)
		return field(at), err
	}
}

// isNear reports whether rank r is on this host.
func (d *dialer) isNear(ctx context.Context, r base.Rank) (bool, error) {
	at, err := d.find(ctx, r)
	return at.Host == d.own.Host, err
}

// addresses returns where this rank can be reached, best first.
func (d *dialer) addresses() ([]netip.Addr, error) {
	own, err := address.Choose(d.Interface, d.hint())
	if err != nil && d.Interface != "" {
		return nil, fmt.Errorf("%s: %w", d.InterfaceFrom, err)
	}
	return own, err
}

// ports returns the range of ports that this rank may listen at.
func ports() (address.Ports, error) {
	ports, err := address.ParsePorts(os.Getenv(boot.EnvPorts))
	if err != nil {
		return ports, fmt.Errorf("%s: %w", boot.EnvPorts, err)
	}
	return ports, nil
}

// hint is an address that peers are reached the same way as, if one is known.
func (d *dialer) hint() netip.Addr {
	if d.info.LocalSize == d.info.Size {
		return netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}
	return d.info.Rendezvous
}

// location is what this rank tells all others of where it is: a hash in place of the host's name, which
// may be long. An emulated network has each rank on a host of its own.
func (d *dialer) location() string {
	h := fnv.New64a()
	h.Write([]byte(d.own.Host))
	if d.Emulate != "" {
		fmt.Fprint(h, " of rank ", d.info.Rank)
	}
	text := fmt.Sprintf("%x%s", h.Sum64(), topology.FieldEnd)
	if d.own.Shared != "" || d.own.TCP == "" && d.own.RDMA == "" {
		text += topology.MarkMemory
	}
	if d.info.LocalSize <= LocalCores() {
		text += topology.MarkCores
	}
	if d.own.Shared != "" && d.info.Size <= mostTold {
		text += topology.FieldEnd + d.own.Shared
	}
	return text
}

// mostTold bounds the ranks of a job that tell all others where their memory files are found: what all tell together
// must fit into one message.
const mostTold = 1 << 14

// findShared returns where the memory files of rank r are found, without a question if r has told it to all.
func (d *dialer) findShared(ctx context.Context, r base.Rank) (string, error) {
	if told := d.told.Load(); told != nil && int(r) < len(*told) {
		if fields := strings.SplitN((*told)[r], topology.FieldEnd, 3); len(fields) == 3 {
			return fields[2], nil
		}
	}
	at, err := d.find(ctx, r)
	return at.Shared, err
}
