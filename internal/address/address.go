// Package address says on which of a host's addresses to listen, and which to
// tell others.
//
// It opens no sockets and resolves no names: a rank or the launcher asks it once,
// with what the user said and what is known about the other side.
package address

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
)

// A device is a network interface and its addresses.
type device struct {
	name  string         // such as eth0
	index int            // its number, by which a zone may name it too
	up    bool           // it can be used
	addrs []netip.Addr   // IPv6 addresses of one link have a zone
	nets  []netip.Prefix // the same as the system writes them
}

// errMalformed says that a part of a list can mean nothing on any host.
var errMalformed = errors.New("expected a name, a network such as 10.0.0.0/8, or an address")

// Choose returns the addresses of this host that spec describes, best first: at
// least one, none twice.
//
// spec is a list, separated by commas, of names of interfaces ("eth0"),
// networks ("10.0.0.0/8", "fd00::/8") and addresses; the result has the order of
// the list. After a "^" the list says what not to use, and the result is the
// rest. Loopback addresses, and those of one link only, are used only if they
// are named.
//
// If spec is empty, the result is the address by which hint is reached, usually
// that of the rendezvous: a loopback address if hint is one. Without a hint it
// is all addresses, IPv4 first, and a loopback address if there are no others.
//
// An error says which part of spec matched nothing, and what there is.
func Choose(spec string, hint netip.Addr) ([]netip.Addr, error) {
	all, err := devices()
	if err != nil {
		return nil, err
	}
	return choose(spec, hint, all, route)
}

// Check refuses a spec that can mean nothing on any host.
func Check(spec string) error {
	if spec = strings.TrimSpace(spec); spec == "" {
		return nil
	}
	for part := range strings.SplitSeq(strings.TrimPrefix(spec, "^"), ",") {
		if _, err := match(strings.TrimSpace(part), nil); errors.Is(err, errMalformed) {
			return fmt.Errorf("network interface %.80q: %w", spec, err)
		}
	}
	return nil
}

// devices returns what this host has.
func devices() ([]device, error) {
	list, err := net.Interfaces()
	if err != nil {
		return nil, fmt.Errorf("listing the network interfaces: %w", err)
	}
	var out []device
	for _, i := range list {
		addrs, err := i.Addrs()
		if err != nil {
			return nil, fmt.Errorf("addresses of %s: %w", i.Name, err)
		}
		own := device{name: i.Name, index: i.Index, up: i.Flags&net.FlagUp != 0}
		for _, a := range addrs {
			p, err := netip.ParsePrefix(a.String())
			if err != nil {
				continue // an address of no internet
			}
			own.add(p)
		}
		out = append(out, own)
	}
	return out, nil
}

func (i *device) add(p netip.Prefix) {
	a := p.Addr().Unmap()
	if a.Is6() && a.IsLinkLocalUnicast() {
		a = a.WithZone(i.name)
	}
	i.addrs = append(i.addrs, a)
	i.nets = append(i.nets, p)
}

// holds returns an address of this device that a means, and whether there is one. a may lack
// the zone.
func (i *device) holds(a netip.Addr) (own netip.Addr, ok bool) {
	if zone := a.Zone(); zone != "" && !i.isZone(zone) {
		return own, false
	}
	for _, own := range i.addrs {
		if own.WithZone("") == a.WithZone("") {
			return own, true
		}
	}
	return own, false
}

// route returns the address that this host uses to reach another. It asks the
// system's routing table: nothing is sent.
func route(to netip.Addr) (netip.Addr, error) {
	conn, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(netip.AddrPortFrom(to, 9)))
	if err != nil {
		return netip.Addr{}, err
	}
	defer conn.Close()
	return conn.LocalAddr().(*net.UDPAddr).AddrPort().Addr().Unmap(), nil
}

func choose(spec string, hint netip.Addr, all []device, route func(netip.Addr) (netip.Addr, error)) ([]netip.Addr, error) {
	if spec = strings.TrimSpace(spec); spec == "" {
		return byHint(hint, all, route)
	}
	list, not := strings.CutPrefix(spec, "^")
	var named []netip.Addr
	for part := range strings.SplitSeq(list, ",") {
		found, err := match(strings.TrimSpace(part), all)
		if err != nil && (!not || errors.Is(err, errMalformed)) {
			return nil, fmt.Errorf("network interface %.80q: %w; this host has %s", spec, err, describe(all))
		}
		named = append(named, found...)
	}
	if not {
		named = slices.DeleteFunc(usable(all), func(a netip.Addr) bool { return slices.Contains(named, a) })
	}
	if len(named) == 0 {
		return nil, fmt.Errorf("network interface %.80q leaves no address to use; this host has %s", spec, describe(all))
	}
	return unique(named), nil
}

// byHint chooses when nobody said anything.
func byHint(hint netip.Addr, all []device, route func(netip.Addr) (netip.Addr, error)) ([]netip.Addr, error) {
	if hint.IsValid() {
		a, err := route(hint)
		if err != nil && hint.IsLoopback() {
			return nil, fmt.Errorf("no way to %v: %w; the loopback interface has to be up (ip link set lo up): this host has %s", hint, err, describe(all))
		}
		if err != nil {
			return nil, fmt.Errorf("no way to %v: %w; name a network interface: this host has %s", hint, err, describe(all))
		}
		return []netip.Addr{a}, nil
	}
	found := usable(all)
	slices.SortStableFunc(found, func(a, b netip.Addr) int { return a.BitLen() - b.BitLen() })
	if len(found) == 0 {
		for _, i := range all {
			for _, a := range i.addrs {
				if i.up && a.IsLoopback() {
					found = append(found, a)
				}
			}
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("this host has no address to use: %s", describe(all))
	}
	return unique(found), nil
}

// usable returns the addresses at which other hosts may reach this one.
func usable(all []device) []netip.Addr {
	var out []netip.Addr
	for _, i := range all {
		for _, a := range i.addrs {
			if i.up && !a.IsLoopback() && !a.IsLinkLocalUnicast() && !a.IsMulticast() && !a.IsUnspecified() {
				out = append(out, a)
			}
		}
	}
	return out
}

// match returns the addresses that one part of a list names.
func match(part string, all []device) ([]netip.Addr, error) {
	if part == "" {
		return nil, fmt.Errorf("an empty part of the list: %w", errMalformed)
	}
	if a, err := netip.ParseAddr(part); err == nil {
		return matchAddress(a.Unmap(), all)
	}
	if strings.Contains(part, "/") {
		return matchNetwork(part, all)
	}
	for _, i := range all {
		if i.name != part {
			continue
		}
		if !i.up {
			return nil, fmt.Errorf("%s is down", part)
		}
		own := usable([]device{i})
		if len(own) == 0 { // loopback, or nothing but addresses of the link
			own = i.addrs
		}
		if len(own) == 0 {
			return nil, fmt.Errorf("%s has no address", part)
		}
		return own, nil
	}
	return nil, fmt.Errorf("there is no %.80q", part)
}

// IsGroup reports whether an address means several hosts, so that none has it and TCP cannot
// use it: multicast and broadcast.
func IsGroup(a netip.Addr) bool {
	a = a.Unmap()
	return a.IsMulticast() || a == netip.AddrFrom4([4]byte{255, 255, 255, 255})
}

func matchAddress(a netip.Addr, all []device) ([]netip.Addr, error) {
	if IsGroup(a) || a.IsUnspecified() {
		return nil, fmt.Errorf("%v is an address that no host has: %w", a, errMalformed)
	}
	for _, i := range all {
		if own, ok := i.holds(a); ok {
			if !i.up {
				return nil, fmt.Errorf("%v belongs to %s, which is down", a, i.name)
			}
			return []netip.Addr{own}, nil
		}
	}
	if zone := a.Zone(); zone != "" && !hasZone(all, zone) {
		return nil, fmt.Errorf("there is no %.80q, the interface that the zone of %.80v names", zone, a)
	}
	return nil, fmt.Errorf("%v is no address of this host", a)
}

func matchNetwork(part string, all []device) ([]netip.Addr, error) {
	network, err := netip.ParsePrefix(part)
	if err != nil {
		return nil, fmt.Errorf("%.80q is no network: %w", part, errMalformed)
	}
	var out []netip.Addr
	for _, i := range all {
		for _, a := range i.addrs {
			if i.up && network.Contains(a.WithZone("")) {
				out = append(out, a)
			}
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("this host has no address in %v", network)
	}
	return out, nil
}

// describe lists what there is, for who named something else.
func describe(all []device) string {
	var out []string
	for _, i := range all {
		text := i.name
		if !i.up {
			text += " (down)"
		}
		for _, n := range i.nets {
			text += " " + n.String()
		}
		out = append(out, text)
	}
	if len(out) == 0 {
		return "no network interface"
	}
	return strings.Join(out, ", ")
}

func unique(list []netip.Addr) []netip.Addr {
	var out []netip.Addr
	for _, a := range list {
		if !slices.Contains(out, a) {
			out = append(out, a)
		}
	}
	return out
}
