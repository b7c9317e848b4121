// Package variables reads values of an environment and keeps the first error, which names the
// variable. It knows the forms of values, such as times, ports and addresses, and not which
// variables there are.
package variables

import (
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/gaspi-go/gaspi-go/internal/address"
)

// Limits of values.
const (
	MaxHost   = 255 // bytes of a host's name
	MaxPort   = 1<<16 - 1
	ManyRanks = 1 << 24 // more ranks than any job has
)

// A Reader reads an environment. The first variable that makes no sense is
// kept as an error that names it, and what is read after it means nothing.
type Reader struct {
	Lookup func(name string) (string, bool) // os.LookupEnv or like it
	Err    error                            // of the first variable that makes no sense
}

// Has reports whether a variable is set.
func (v *Reader) Has(name string) bool {
	_, ok := v.Lookup(name)
	return ok
}

// Fail notes that the value of a variable is not as expected.
func (v *Reader) Fail(name, value, expected string) {
	if v.Err == nil {
		v.Err = fmt.Errorf("%s=%.80q: expected %s", name, value, expected)
	}
}

// Number returns a whole number of at least from and below below, or otherwise
// if the variable is not set.
func (v *Reader) Number(name string, from, below, otherwise int) int {
	text, ok := v.Lookup(name)
	if !ok {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < from || n >= below {
		v.Fail(name, text, fmt.Sprintf("a number from %d to %d", from, below-1))
		return otherwise
	}
	return n
}

// Duration returns a time from least to most, 0, or otherwise if it is not set.
func (v *Reader) Duration(name string, least, most, otherwise time.Duration) time.Duration {
	text, ok := v.Lookup(name)
	if !ok {
		return otherwise
	}
	d, err := time.ParseDuration(text)
	if err != nil || d != 0 && (d < least || d > most) {
		v.Fail(name, text, fmt.Sprintf("a time from %v to %vh such as %v, or 0 for no limit", least, most.Hours(), otherwise))
		return otherwise
	}
	return d
}

// Flag returns whether a variable is 1.
func (v *Reader) Flag(name string) bool {
	text, ok := v.Lookup(name)
	if ok && text != "0" && text != "1" && text != "" {
		v.Fail(name, text, "1 for yes or 0 for no")
	}
	return text == "1"
}

// Choice returns one of the words, the first if the variable is not set.
func (v *Reader) Choice(name string, words ...string) string {
	text, ok := v.Lookup(name)
	if !ok {
		return words[0]
	}
	for _, w := range words {
		if text == w {
			return w
		}
	}
	v.Fail(name, text, strings.Join(words, " or "))
	return words[0]
}

// Ports returns a range of ports; the zero value if it is not set.
func (v *Reader) Ports(name string) address.Ports {
	text, _ := v.Lookup(name)
	ports, err := address.ParsePorts(text)
	if err != nil {
		v.Fail(name, text, "a range of ports LOW-HIGH, such as 7000-7099")
	}
	return ports
}

// Addresses returns a list of host:port.
func (v *Reader) Addresses(name string) []string {
	text, _ := v.Lookup(name)
	list := strings.Split(text, ",")
	for i, a := range list {
		list[i] = strings.TrimSpace(a)
		host, port, err := net.SplitHostPort(list[i])
		_, isHost := HostName(host)
		n, portErr := strconv.Atoi(port)
		if err != nil || portErr != nil || !isHost || n < 1 || n > MaxPort {
			v.Fail(name, text, fmt.Sprintf("where rank 0 can be reached, as host:port, with the name or address of one host and a port from 1 to %d; several are separated by commas", MaxPort))
		}
	}
	return list
}

// HostName returns the host that text names, which may be an address in brackets, and whether
// it can be one.
func HostName(text string) (host string, ok bool) {
	if inside, opened := strings.CutPrefix(text, "["); opened {
		inside, closed := strings.CutSuffix(inside, "]")
		return inside, closed && isIPv6(inside)
	}
	if strings.ContainsAny(text, ":%") {
		return text, isIPv6(text)
	}
	if a, err := netip.ParseAddr(text); err == nil {
		return text, !address.IsGroup(a)
	}
	impossible := func(r rune) bool {
		return r == utf8.RuneError || !unicode.IsPrint(r) || strings.ContainsRune(" ,/@[]\\", r)
	}
	return text, text != "" && len(text) <= MaxHost && !strings.ContainsFunc(text, impossible)
}

// isIPv6 reports whether text is an IPv6 address that a host can have, perhaps with a zone.
func isIPv6(text string) bool {
	a, err := netip.ParseAddr(text)
	return err == nil && a.Is6() && !address.IsGroup(a)
}
