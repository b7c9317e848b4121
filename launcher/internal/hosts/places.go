package hosts

import (
	"net"
	"os"
	"slices"
	"strings"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
)

// A Place is a host of a job with the ranks that run there.
type Place struct {
	Name   string
	Number int  // which host of the job, as ranks are told
	Here   bool // it is this host
	First  base.Rank
	Ranks  int
}

// Elsewhere reports whether it is another host.
func (p Place) Elsewhere() bool { return !p.Here }

// Holds reports whether a rank runs there.
func (p Place) Holds(r base.Rank) bool { return r >= p.First && int(r-p.First) < p.Ranks }

// Places returns where so many ranks go, host by host; no list means this host. This host is one place, whatever
// names it goes by.
func Places(list []Entry, ranks int) ([]Place, error) {
	if list == nil {
		return []Place{{Name: "this host", Here: true, Ranks: ranks}}, nil
	}
	var all []Entry
	here := -1
	for _, h := range list {
		if err := checkName(h.Name); err != nil {
			return nil, err
		}
		switch known := slices.IndexFunc(all, func(o Entry) bool { return o.Name == h.Name }); {
		case here >= 0 && isHere(h.Name):
			all[here].Slots += h.Slots
		case known >= 0:
			all[known].Slots += h.Slots
		default:
			if isHere(h.Name) {
				here = len(all)
			}
			all = append(all, h)
		}
	}
	filled, err := fill(all, ranks)
	if err != nil {
		return nil, err
	}
	var out []Place
	first := base.Rank(0)
	for i, h := range filled {
		out = append(out, Place{Name: h.Name, Number: i, Here: isHere(h.Name), First: first, Ranks: h.Slots})
		first += base.Rank(h.Slots)
	}
	return out, nil
}

// isHere reports whether a host is this one, so that nothing but this process is
// needed to start something there.
func isHere(name string) bool {
	own, err := os.Hostname()
	if err != nil {
		own = "localhost"
	}
	short, _, _ := strings.Cut(own, ".")
	if slices.Contains([]string{"localhost", own, short, os.Getenv("SLURMD_NODENAME")}, name) {
		return true
	}
	ip := net.ParseIP(name)
	if ip == nil {
		return false
	}
	if ip.IsLoopback() {
		return true
	}
	addresses, _ := net.InterfaceAddrs() // without them it is another host, and ssh works too
	return slices.ContainsFunc(addresses, func(a net.Addr) bool {
		n, ok := a.(*net.IPNet)
		return ok && n.IP.Equal(ip)
	})
}
