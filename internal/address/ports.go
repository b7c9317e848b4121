package address

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"syscall"
)

// Ports is a range of ports to listen at, both ends included. The zero value means any
// port that the system chooses.
type Ports struct{ Low, High uint16 }

// ParsePorts reads a range such as "7000-7099", or a single port. Empty is the zero value.
func ParsePorts(text string) (Ports, error) {
	if text == "" {
		return Ports{}, nil
	}
	from, to, isRange := strings.Cut(text, "-")
	if !isRange {
		to = from
	}
	low, err := strconv.ParseUint(from, 10, 16)
	high, errHigh := strconv.ParseUint(to, 10, 16)
	if err != nil || errHigh != nil || low < 1 || low > high {
		return Ports{}, fmt.Errorf("range of ports %.80q: expected LOW-HIGH, two numbers from 1 to 65535 of which the first is not larger", text)
	}
	return Ports{uint16(low), uint16(high)}, nil
}

// Open calls listen with one port after the other until one is free, and returns its
// error; port 0, which lets the system choose, is the only one of the zero value.
func (p Ports) Open(listen func(port uint16) error) error {
	if p == (Ports{}) {
		return listen(0)
	}
	for port := int(p.Low); port <= int(p.High); port++ {
		if err := listen(uint16(port)); !errors.Is(err, syscall.EADDRINUSE) {
			return err
		}
	}
	return fmt.Errorf("all ports from %d to %d are in use: a wider range is --ports or GASPI_PORTS; each rank of a host listens at one (at two with RDMA), and so does the launcher, or rank 0 without one", p.Low, p.High)
}
