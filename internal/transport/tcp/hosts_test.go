package tcp

import (
	"net/netip"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
	"github.com/gaspi-go/gaspi-go/internal/testenv/cluster"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/internal/transport/transporttest"
)

// Goal: the contract holds between hosts, two ranks on each: the ranks are in this
// process, but their sockets are on the networks of four hosts.
func TestContractAcrossHosts(t *testing.T) {
	testenv.NeedStep(t, "GASPI_TEST_CLUSTER", "cluster")
	hosts := cluster.New(t, 4).Hosts()
	for _, c := range []struct {
		name    string
		address func(*cluster.Host) netip.Addr
		tls     bool
	}{
		{"IPv4", func(h *cluster.Host) netip.Addr { return h.IPv4 }, false},
		{"IPv6", func(h *cluster.Host) netip.Addr { return h.IPv6 }, false},
		{"TLS", func(h *cluster.Host) netip.Addr { return h.IPv4 }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			transporttest.Run(t, func(t *testing.T, n int) (ranks []transport.Transport) {
				for _, r := range join(t, n, func(r base.Rank, cfg *Config) {
					host := hosts[int(r)/2%len(hosts)]
					if n <= len(hosts) {
						host = hosts[r] // few ranks are not to be neighbours
					}
					cfg.Listen, cfg.TLS, cfg.within = []netip.Addr{c.address(host)}, c.tls, host.Within
				}) {
					ranks = append(ranks, r)
				}
				return ranks
			}, heapMemory)
		})
	}
}
