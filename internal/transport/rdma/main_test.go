//go:build !(rdma && cgo && linux)

package rdma

import (
	"fmt"
	"testing"
)

// TestMain leaves the tests to make rdma, which builds with the tag: over the network
// in memory the contract stands still now and then, which docs/RDMA.md tells of.
func TestMain(*testing.M) {
	fmt.Println("not run without the tag rdma: see make rdma")
}
