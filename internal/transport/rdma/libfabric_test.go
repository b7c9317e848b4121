//go:build rdma && cgo && linux

package rdma

import (
	"bytes"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"strconv"
	"testing"

	netaddr "github.com/gaspi-go/gaspi-go/internal/address"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/internal/transport/transporttest"
	"github.com/gaspi-go/gaspi-go/segment"
)

// providerName is what GASPI_RDMA_PROVIDER says, or what every machine has.
func providerName() string {
	if name := os.Getenv("GASPI_RDMA_PROVIDER"); name != "" {
		return name
	}
	return "tcp;ofi_rxm"
}

// loopbackSource is where tests listen, if the provider has such addresses.
func loopbackSource() []netip.Addr { return []netip.Addr{netip.MustParseAddr("127.0.0.1")} }

// openLibfabric opens an endpoint of the provider under test.
func openLibfabric(t testing.TB, n int) func() fabric {
	return func() fabric {
		t.Helper()
		f, err := open(providerName(), loopbackSource(), netaddr.Ports{}, n)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
}

func fileMemory(size uint64, notifications uint32) (*segment.Segment, error) {
	return segment.Create(size, notifications, polling())
}

func heapMemory(size uint64, notifications uint32) (*segment.Segment, error) {
	return segment.New(size, notifications, polling())
}

func TestContract(t *testing.T) {
	for _, c := range []struct {
		name   string
		memory transporttest.NewSegment
	}{
		{"memory files", fileMemory},
		{"heap", heapMemory},
	} {
		t.Run(c.name, func(t *testing.T) {
			transporttest.Run(t, func(t *testing.T, n int) []transport.Transport {
				return asTransports(joinOver(t, n, openLibfabric(t, n)))
			}, c.memory)
		})
	}
}

func TestThousandsOutstanding(t *testing.T) {
	thousandsOutstanding(t, joinOver(t, 2, openLibfabric(t, 2)), 5000)
}

func TestHugeTransfer(t *testing.T) {
	hugeTransfer(t, joinOver(t, 2, openLibfabric(t, 2)), 48<<20+5)
}

func TestManySegments(t *testing.T) {
	const count = 300
	manySegments(t, joinOver(t, 2, openLibfabric(t, 2), func(cfg *Config) { cfg.IDs = count }), count)
}

// envMany makes this test program the ranks of TestManyRanksMeet: so many.
const envMany = "RDMA_TEST_MANY"

// The largest job that this is for. It has a process of its own, since libfabric learns
// once in a process how large a job is.
func TestManyRanksMeet(t *testing.T) {
	if n, err := strconv.Atoi(os.Getenv(envMany)); err == nil {
		allMeet(t, joinOver(t, n, openLibfabric(t, n)))
		return
	}
	n := 256
	if providerName() != "tcp;ofi_rxm" && os.Getenv("GASPI_TEST_LONG") != "1" {
		n = 64 // an emulated processor makes a few connections a second
	}
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run", "^TestManyRanksMeet$", "-test.v")
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d", envMany, n))
	out, err := cmd.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("--- PASS: TestManyRanksMeet")) {
		t.Errorf("%d ranks: %v\n%s", n, err, out)
	}
}
