//go:build !(rdma && cgo && linux)

package rdma

import (
	"fmt"
	"net/netip"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	netaddr "github.com/gaspi-go/gaspi-go/internal/address"
)

// open returns an error: there is no libfabric in this binary.
func open(string, []netip.Addr, netaddr.Ports, int) (fabric, error) {
	return nil, fmt.Errorf("%w: this binary was built without RDMA; build it with -tags rdma, which takes a C compiler and the headers of libfabric", base.ErrNotSupported)
}

func list(string) ([]Provider, error) {
	_, err := open("", nil, netaddr.Ports{}, 0)
	return nil, err
}
