package address

import (
	"net"
	"net/netip"
)

// An IPv6 address of one link means nothing without a zone, the interface that leads to the
// link, and the name of an interface means nothing on another host. So hosts tell each other
// such addresses without a zone, and each puts its own there.

// Told returns the address of a listener as other hosts are told it: without a zone.
func Told(l net.Listener) string {
	tcp, ok := l.Addr().(*net.TCPAddr)
	if !ok {
		return l.Addr().String()
	}
	at := tcp.AddrPort()
	return netip.AddrPortFrom(at.Addr().WithZone(""), at.Port()).String()
}

// Own returns the address of this host that a means, with its zone, and whether there is one.
// a may lack the zone. The interface is up.
func Own(a netip.Addr) (own netip.Addr, ok bool) {
	all, err := devices()
	if err != nil {
		return own, false
	}
	found, err := matchAddress(a.Unmap(), all)
	if err != nil {
		return own, false
	}
	return found[0], true
}

// Reach returns the addresses by which this host may reach those, as host:port, that another
// host has told: the same, but for an address of one link without a zone. It gets the zone of
// each interface that has it, if this host does, or else of each that has an address of its link.
func Reach(told []string) []string {
	var out []string
	for _, at := range told {
		there, err := netip.ParseAddrPort(at)
		if a := there.Addr(); err != nil || !a.Is6() || !a.IsLinkLocalUnicast() || a.Zone() != "" {
			out = append(out, at)
			continue
		}
		all, _ := devices() // without them, it has no zone
		out = append(out, reach(there, all)...)
	}
	return out
}

func reach(there netip.AddrPort, all []device) []string {
	var own, links []string
	for _, i := range all {
		with := netip.AddrPortFrom(there.Addr().WithZone(i.name), there.Port()).String()
		if _, ok := i.holds(there.Addr()); ok && i.up {
			own = append(own, with)
		}
		if i.up && i.isLinked() {
			links = append(links, with)
		}
	}
	switch {
	case len(own) > 0:
		return own
	case len(links) > 0:
		return links
	}
	return []string{there.String()}
}

// isLinked reports whether the device has an IPv6 address of its link.
func (i *device) isLinked() bool {
	for _, a := range i.addrs {
		if a.Is6() && a.IsLinkLocalUnicast() {
			return true
		}
	}
	return false
}
