package address

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
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

// isZone reports whether a zone names the device, by its name or its number.
func (i *device) isZone(zone string) bool { return zone == i.name || zone == strconv.Itoa(i.index) }

// hasZone reports whether a zone names one of the devices.
func hasZone(all []device, zone string) bool {
	return slices.ContainsFunc(all, func(i device) bool { return i.isZone(zone) })
}

// CheckZones returns an error if this host can use none of the addresses, as host:port, because
// each is of a link, with the zone of an interface that this host does not have. Hosts may be
// given one list for all of them, so one address that can be used is enough.
func CheckZones(list []string) error {
	all, err := devices()
	if err != nil {
		return nil // the connection says more
	}
	return checkZones(list, all)
}

func checkZones(list []string, all []device) error {
	var wrong []string
	for _, at := range list {
		there, err := netip.ParseAddrPort(at)
		a := there.Addr()
		if err != nil || !a.IsLinkLocalUnicast() || a.Zone() == "" || hasZone(all, a.Zone()) {
			return nil
		}
		wrong = append(wrong, fmt.Sprintf("%.80q", a.Zone()))
	}
	if len(wrong) == 0 {
		return nil
	}
	return fmt.Errorf("the zone of an address has to be an interface of this host, and there is no %s: leave the zone out, or name an interface after the %%; this host has %s",
		strings.Join(wrong, " and no "), describe(all))
}
