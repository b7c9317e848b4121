package address

import (
	"errors"
	"net"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// someHost is a host with two networks, both versions of IP, a bridge of
// containers, a cable that is not plugged in, and an interface that has only
// what every interface has.
func someHost() []device {
	host := []struct {
		name string
		up   bool
		nets []string
	}{
		{"lo", true, []string{"127.0.0.1/8", "::1/128"}},
		{"eth0", true, []string{"fd00::5/64", "10.1.2.3/16", "fe80::1/64"}},
		{"eth1", true, []string{"192.168.7.3/24"}},
		{"docker0", true, []string{"172.17.0.1/16"}},
		{"eth2", false, []string{"10.9.9.9/8"}},
		{"wg0", true, []string{"fe80::2/64"}},
		{"dummy", true, nil},
	}
	var all []device
	for _, h := range host {
		i := device{name: h.name, up: h.up}
		for _, n := range h.nets {
			i.add(netip.MustParsePrefix(n))
		}
		all = append(all, i)
	}
	return all
}

// routes answers as the routing table of someHost would.
func routes(to netip.Addr) (netip.Addr, error) {
	switch {
	case to == netip.MustParseAddr("127.0.0.99"):
		return netip.Addr{}, errors.New("no route")
	case to.IsLoopback():
		return to, nil
	case to.Is6():
		return netip.Addr{}, errors.New("network is unreachable")
	}
	return netip.MustParseAddr("192.168.7.3"), nil
}

func TestChoose(t *testing.T) {
	for _, c := range []struct{ name, spec, hint, want string }{
		{"name", "eth1", "", "192.168.7.3"},
		{"name with both", "eth0", "", "fd00::5 10.1.2.3"},
		{"loopback by name", "lo", "", "127.0.0.1 ::1"},
		{"only link addresses", "wg0", "", "fe80::2%wg0"},
		{"order of the list", "eth1, eth0", "", "192.168.7.3 fd00::5 10.1.2.3"},
		{"twice", "eth1,192.168.0.0/16,eth1", "", "192.168.7.3"},
		{"network", "10.0.0.0/8", "", "10.1.2.3"},
		{"network of version 6", "fd00::/8", "", "fd00::5"},
		{"loopback network", "127.0.0.0/8", "", "127.0.0.1"},
		{"address", "10.1.2.3", "", "10.1.2.3"},
		{"mapped address", "::ffff:10.1.2.3", "", "10.1.2.3"},
		{"link address", "fe80::1", "", "fe80::1%eth0"},
		{"link address with zone", "fe80::1%eth0", "", "fe80::1%eth0"},
		{"all but some", "^docker0,eth0", "", "192.168.7.3"},
		{"all but loopback is no loopback", "^lo", "", "fd00::5 10.1.2.3 192.168.7.3 172.17.0.1"},
		{"all but what is not there", "^nosuch,docker0,10.0.0.0/8", "", "fd00::5 192.168.7.3"},
		{"all but an address", "^fd00::5,docker0", "", "10.1.2.3 192.168.7.3"},
		{"nothing said", "", "", "10.1.2.3 192.168.7.3 172.17.0.1 fd00::5"},
		{"the way to the rendezvous", " ", "8.8.8.8", "192.168.7.3"},
		{"the rendezvous is here", "", "127.0.0.1", "127.0.0.1"},
		{"said counts more", "eth0", "8.8.8.8", "fd00::5 10.1.2.3"},
	} {
		var hint netip.Addr
		if c.hint != "" {
			hint = netip.MustParseAddr(c.hint)
		}
		got, err := choose(c.spec, hint, someHost(), routes)
		var text []string
		for _, a := range got {
			text = append(text, a.String())
		}
		if d := cmp.Diff(c.want, strings.Join(text, " ")); err != nil || d != "" {
			t.Errorf("%s: %v (-want +got):\n%s", c.name, err, d)
		}
	}
}

func TestChooseRefuses(t *testing.T) {
	for _, c := range []struct{ name, spec, hint, want string }{
		{"no such name", "eth9", "", `network interface "eth9": there is no "eth9"`},
		{"one of two", "eth0,eth9", "", `there is no "eth9"`},
		{"down", "eth2", "", "eth2 is down"},
		{"address that is down", "10.9.9.9", "", "belongs to eth2, which is down"},
		{"foreign address", "10.1.2.4", "", "10.1.2.4 is no address of this host"},
		{"wrong zone", "fe80::1%eth1", "", "is no address of this host"},
		{"zone of nothing", "fe80::1%nosuch0", "", `there is no "nosuch0", the interface that the zone of fe80::1%nosuch0 names`},
		{"multicast", "ff02::1", "", "ff02::1 is an address that no host has: expected a name, a network"},
		{"not a multicast", "^224.0.0.1", "", "224.0.0.1 is an address that no host has: expected a name, a network"},
		{"no such network", "11.0.0.0/8", "", "no address in 11.0.0.0/8"},
		{"no network", "10.0.0.0/40", "", "is no network: expected"},
		{"no address", "dummy", "", "dummy has no address"},
		{"empty part", "eth0,,eth1", "", "empty part"},
		{"not a malformed network", "^10.0.0.0/40", "", "is no network: expected"},
		{"nothing left", "^eth0,eth1,docker0", "", "leaves no address"},
		{"no way to loopback", "", "127.0.0.99", "no way to 127.0.0.99: no route; the loopback interface has to be up (ip link set lo up)"},
		{"no way", "", "2001:db8::1", "no way to 2001:db8::1"},
	} {
		var hint netip.Addr
		if c.hint != "" {
			hint = netip.MustParseAddr(c.hint)
		}
		_, err := choose(c.spec, hint, someHost(), routes)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "this host has lo 127.0.0.1/8") ||
			!strings.Contains(err.Error(), "eth2 (down) 10.9.9.9/8") {
			t.Errorf("%s: %v; want %q and what there is", c.name, err, c.want)
		}
	}
}

func TestCheck(t *testing.T) {
	for _, spec := range []string{"", "eth0", "^lo", "10.0.0.0/8", "10.1.2.3", "fe80::1%eth0"} {
		if err := Check(spec); err != nil {
			t.Errorf("%q: %v", spec, err)
		}
	}
	for _, spec := range []string{",", "10.0.0.0/40", "224.0.0.1", "^ff02::1%eth0", "::ffff:224.0.0.1", "255.255.255.255", "eth0,0.0.0.0", "::"} {
		if err := Check(spec); !errors.Is(err, errMalformed) {
			t.Errorf("%q: %v, want %v", spec, err, errMalformed)
		}
	}
}

func TestChooseOnAHostWithoutNetwork(t *testing.T) {
	alone := someHost()[:1]
	got, err := choose("", netip.Addr{}, alone, routes)
	want := []netip.Addr{netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("::1")}
	if err != nil || len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	if _, err := choose("^lo", netip.Addr{}, alone, routes); err == nil {
		t.Error("loopback was used although it was excluded")
	}
	if _, err := choose("", netip.Addr{}, nil, routes); err == nil || !strings.Contains(err.Error(), "no network interface") {
		t.Errorf("nothing at all: %v", err)
	}
}

func TestThisHost(t *testing.T) {
	local := netip.MustParseAddr("127.0.0.1")
	if got, err := Choose("", local); err != nil || len(got) != 1 || got[0] != local {
		t.Errorf("%v, %v; want the loopback address", got, err)
	}
	all, err := Choose("", netip.Addr{})
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range all {
		l, err := net.ListenTCP("tcp", net.TCPAddrFromAddrPort(netip.AddrPortFrom(a, 0)))
		if err != nil {
			t.Errorf("cannot listen on %v: %v", a, err)
			continue
		}
		l.Close()
		if by, err := Choose(a.String(), netip.Addr{}); err != nil || len(by) != 1 || by[0] != a {
			t.Errorf("%v by itself: %v, %v", a, by, err)
		}
	}
}
