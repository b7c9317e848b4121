//go:build rdma && cgo && linux

package rdma

import (
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"

	netaddr "github.com/gaspi-go/gaspi-go/internal/address"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

// listen is a process that opens an endpoint at a port of each of some ranges, one after the
// other, and prints their names as libfabric has them: libfabric learns a range once per process.
func listen(_ context.Context, args []string) error {
	for text := range strings.SplitSeq(args[0], ",") {
		ports, err := netaddr.ParsePorts(text)
		if err == nil {
			var f fabric
			if f, err = open(providerName(), loopbackSource(), ports, 2); err == nil {
				fmt.Printf("%x\n", f.name())
				f.close()
				continue
			}
		}
		return err
	}
	return nil
}

// takenPort listens at a port of the address where endpoints are opened, and returns it. The
// next count ports were free just now.
func takenPort(t *testing.T, count int) int {
	t.Helper()
	low := testenv.FreePorts(t, count+1)
	l, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(low))
	ok(t, err)
	t.Cleanup(func() { l.Close() })
	return low
}

func TestPorts(t *testing.T) {
	const more = 5
	low := takenPort(t, more)
	run := func(ports string) (string, error) {
		out, err := testenv.Command(t.Context(), "listens", ports).CombinedOutput()
		return strings.TrimSpace(string(out)), err
	}
	name, err := run(fmt.Sprintf("%d-%d", low, low+more))
	if err != nil {
		t.Fatalf("%v: %s", err, name)
	}
	if !strings.HasPrefix(providerName(), "tcp") {
		return // others choose themselves, and were not kept from it
	}
	var address []byte
	if _, err := fmt.Sscanf(name, "%x", &address); err != nil || len(address) < 4 {
		t.Fatalf("%v: the name of an endpoint is %q", err, name)
	}
	if port := int(binary.BigEndian.Uint16(address[2:])); port <= low || port > low+more {
		t.Errorf("listens at port %d, want one of %d to %d", port, low+1, low+more)
	}
	if said, err := run(strconv.Itoa(low)); err == nil || !strings.Contains(said, fmt.Sprintf("if all ports from %d to %d are in use", low, low)) {
		t.Errorf("with all ports in use: %v: %s", err, said)
	}
	two := fmt.Sprintf("%d-%d,%d", low, low+more, low)
	if said, err := run(two); err == nil || !strings.HasSuffix(said, fmt.Sprintf(", and at none from %d to %d: libfabric takes the range of the first transport of a process", low, low)) {
		t.Errorf("with a second range: %v: %s", err, said)
	}
}
