package address

import (
	"net"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// linked are devices of which two have addresses of their links, and one is down.
func linked() []device {
	var all []device
	for i, d := range []struct {
		name string
		up   bool
		nets []string
	}{
		{"lo", true, []string{"127.0.0.1/8", "::1/128"}},
		{"eth0", true, []string{"10.0.0.1/8", "fe80::a/64"}},
		{"br0", true, []string{"fe80::b/64", "fe80::c/64"}},
		{"old0", false, []string{"fe80::d/64"}},
	} {
		own := device{name: d.name, index: i + 1, up: d.up}
		for _, n := range d.nets {
			own.add(netip.MustParsePrefix(n))
		}
		all = append(all, own)
	}
	return all
}

func TestReach(t *testing.T) {
	for at, want := range map[string][]string{
		"[fe80::a]:7": {"[fe80::a%eth0]:7"}, // its own
		"[fe80::c]:7": {"[fe80::c%br0]:7"},
		"[fe80::1]:7": {"[fe80::1%eth0]:7", "[fe80::1%br0]:7"}, // a neighbour's
		"[fe80::d]:7": {"[fe80::d%eth0]:7", "[fe80::d%br0]:7"}, // it cannot be this host's, which is down
	} {
		if d := cmp.Diff(want, reach(netip.MustParseAddrPort(at), linked())); d != "" {
			t.Errorf("%s (-want +got):\n%s", at, d)
		}
	}
	if d := cmp.Diff([]string{"[fe80::1]:7"}, reach(netip.MustParseAddrPort("[fe80::1]:7"), linked()[:1])); d != "" {
		t.Errorf("without a link (-want +got):\n%s", d)
	}
	same := []string{"h:7", "10.0.0.1:7", "169.254.0.1:7", "[fd00::1]:7", "[fe80::1%eth7]:7", "", "h"}
	if d := cmp.Diff(same, Reach(same)); d != "" {
		t.Errorf("what has no link or a zone (-want +got):\n%s", d)
	}
}

func TestZonesOfOwnAddresses(t *testing.T) {
	for text, want := range map[string]string{
		"fe80::a": "fe80::a%eth0", "fe80::a%eth0": "fe80::a%eth0", "fe80::a%2": "fe80::a%eth0", "::1%lo": "::1", "10.0.0.1": "10.0.0.1",
		"fe80::a%br0": "", "fe80::a%3": "", "fe80::1": "", "fe80::d": "",
	} {
		found, err := matchAddress(netip.MustParseAddr(text), linked())
		if want == "" {
			if err == nil {
				t.Errorf("%s is %v, want an error", text, found)
			}
			continue
		}
		if err != nil || found[0].String() != want {
			t.Errorf("%s is %v, %v; want %s", text, found, err, want)
		}
	}
}

func TestCheckZones(t *testing.T) {
	for list, want := range map[string]string{
		"[fe80::1%eth0]:7": "", "[fe80::1%2]:7": "", "[fe80::1]:7": "", "[fd00::1%nosuch0]:7": "", "h:7": "",
		"[fe80::1%nosuch0]:7,[fe80::1%eth0]:7": "", "[fe80::1%nosuch0]:7,h:7": "", // of a list for several hosts
		"[fe80::1%nosuch0]:7":                     `there is no "nosuch0": leave the zone out`,
		"[fe80::1%nosuch0]:7,[fe80::1%nosuch1]:7": `there is no "nosuch0" and no "nosuch1": leave the zone out`,
	} {
		err := checkZones(strings.Split(list, ","), linked())
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", list, err, want)
		}
	}
}

func TestTold(t *testing.T) {
	for text, want := range map[string]string{"[fe80::1%eth0]:7": "[fe80::1]:7", "127.0.0.1:7": "127.0.0.1:7", "[::]:7": "[::]:7"} {
		if got := Told(listener{net.TCPAddrFromAddrPort(netip.MustParseAddrPort(text))}); got != want {
			t.Errorf("%s is told as %s, want %s", text, got, want)
		}
	}
}

// A listener is one with an address and nothing else.
type listener struct{ at net.Addr }

func (l listener) Addr() net.Addr            { return l.at }
func (l listener) Accept() (net.Conn, error) { return nil, net.ErrClosed }
func (l listener) Close() error              { return nil }
