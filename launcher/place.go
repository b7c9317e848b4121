package launcher

import (
	"net"
	"os"
	"slices"
	"strings"

	"github.com/gaspi-go/gaspi-go/launcher/internal/hosts"
)

// A place is a host of the job with the ranks that run there.
type place struct {
	name   string
	number int  // which host of the job, as ranks are told
	here   bool // it is this host
	first  Rank
	ranks  int

	recruit *recruit // of a node that has started itself; else nil
}

// elsewhere reports whether it is another host.
func (p place) elsewhere() bool { return !p.here }

// places returns where the ranks of a Config go, host by host. This host is one
// place, whatever names it goes by.
func places(cfg Config) ([]place, error) {
	if cfg.Hosts == nil {
		return []place{{name: "this host", here: true, ranks: cfg.Ranks}}, nil
	}
	var all []hosts.Entry
	here := -1
	for _, h := range cfg.Hosts {
		if err := hosts.CheckName(h.Name); err != nil {
			return nil, err
		}
		switch known := slices.IndexFunc(all, func(o hosts.Entry) bool { return o.Name == h.Name }); {
		case here >= 0 && isHere(h.Name):
			all[here].Slots += h.Slots
		case known >= 0:
			all[known].Slots += h.Slots
		default:
			if isHere(h.Name) {
				here = len(all)
			}
			all = append(all, hosts.Entry(h))
		}
	}
	filled, err := hosts.Fill(all, cfg.Ranks)
	if err != nil {
		return nil, err
	}
	var out []place
	first := Rank(0)
	for i, h := range filled {
		out = append(out, place{name: h.Name, number: i, here: isHere(h.Name), first: first, ranks: h.Slots})
		first += Rank(h.Slots)
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

// ParseHosts reads a list of hosts such as "a:2,b,[::1]:4". A host without a
// number has one slot; one that comes again gets more.
func ParseHosts(list string) ([]Host, error) { return exported(hosts.Parse(list)) }

// ReadHostfile reads a file of hosts in the format of mpirun: "NAME slots=N" or
// "NAME:N" in each line, comments after #.
func ReadHostfile(path string) ([]Host, error) { return exported(hosts.ReadFile(path)) }

// SlurmHosts returns the nodes of the Slurm allocation that the environment
// describes, or nil where there is none. lookup is os.LookupEnv, or like it.
func SlurmHosts(lookup func(string) (string, bool)) ([]Host, error) {
	return exported(hosts.Slurm(lookup))
}

// exported returns hosts as users see them.
func exported(all []hosts.Entry, err error) ([]Host, error) {
	var list []Host
	for _, h := range all {
		list = append(list, Host(h))
	}
	return list, err
}
