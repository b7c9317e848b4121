//go:build !(rdma && cgo && linux)

package rdma

import (
	"fmt"
	"net/netip"

	"github.com/gaspi-go/gaspi-go/internal/base"
)

// open says that there is no libfabric in this binary.
func open(string, []netip.Addr, int) (fabric, error) {
	return nil, fmt.Errorf("%w: this binary was built without RDMA; build it with -tags rdma, which takes a C compiler and the headers of libfabric", base.ErrNotSupported)
}

func list(string) ([]Provider, error) {
	_, err := open("", nil, 0)
	return nil, err
}
