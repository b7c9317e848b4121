package boot

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/address"
)

const (
	manyRanks = 1 << 24 // more ranks than any job has
	maxHost   = 255     // bytes of a host's name
	maxPort   = 1<<16 - 1
)

// variables reads an environment. The first variable that makes no sense is
// kept as an error that names it, and what is read after it means nothing.
type variables struct {
	lookup func(string) (string, bool)
	err    error
}

func (v *variables) has(name string) bool {
	_, ok := v.lookup(name)
	return ok
}

func (v *variables) fail(name, value, expected string) {
	if v.err == nil {
		v.err = fmt.Errorf("%s=%.80q: expected %s", name, value, expected)
	}
}

// number returns a whole number of at least from and below below, or otherwise
// if the variable is not set.
func (v *variables) number(name string, from, below, otherwise int) int {
	text, ok := v.lookup(name)
	if !ok {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < from || n >= below {
		v.fail(name, text, fmt.Sprintf("a number from %d to %d", from, below-1))
		return otherwise
	}
	return n
}

// duration returns a time from least to most, 0, or otherwise if it is not set.
func (v *variables) duration(name string, least, most, otherwise time.Duration) time.Duration {
	text, ok := v.lookup(name)
	if !ok {
		return otherwise
	}
	d, err := time.ParseDuration(text)
	if err != nil || d != 0 && (d < least || d > most) {
		v.fail(name, text, fmt.Sprintf("a time from %v to %vh such as %v, or 0 for no limit", least, most.Hours(), otherwise))
		return otherwise
	}
	return d
}

// flag returns whether a variable is 1.
func (v *variables) flag(name string) bool {
	text, ok := v.lookup(name)
	if ok && text != "0" && text != "1" && text != "" {
		v.fail(name, text, "1 for yes or 0 for no")
	}
	return text == "1"
}

// choice returns one of the words, the first if the variable is not set.
func (v *variables) choice(name string, words ...string) string {
	text, ok := v.lookup(name)
	if !ok {
		return words[0]
	}
	for _, w := range words {
		if text == w {
			return w
		}
	}
	v.fail(name, text, strings.Join(words, " or "))
	return words[0]
}

// ports returns a range of ports; the zero value if it is not set.
func (v *variables) ports(name string) address.Ports {
	text, _ := v.lookup(name)
	ports, err := address.ParsePorts(text)
	if err != nil {
		v.fail(name, text, "a range of ports LOW-HIGH, such as 7000-7099")
	}
	return ports
}

// addresses returns a list of host:port.
func (v *variables) addresses(name string) []string {
	text, _ := v.lookup(name)
	list := strings.Split(text, ",")
	for i, a := range list {
		list[i] = strings.TrimSpace(a)
		host, port, err := net.SplitHostPort(list[i])
		_, isHost := hostName(host)
		n, portErr := strconv.Atoi(port)
		if err != nil || portErr != nil || !isHost || n < 1 || n > maxPort {
			v.fail(name, text, fmt.Sprintf("where rank 0 can be reached, as host:port, with the name or address of one host and a port from 1 to %d; several are separated by commas", maxPort))
		}
	}
	return list
}

// hostName returns the host that text names, which may be an address in brackets, and whether
// it can be one.
func hostName(text string) (host string, ok bool) {
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
	return text, text != "" && len(text) <= maxHost && !strings.ContainsFunc(text, impossible)
}

// isIPv6 reports whether text is an IPv6 address that a host can have, perhaps with a zone.
func isIPv6(text string) bool {
	a, err := netip.ParseAddr(text)
	return err == nil && a.Is6() && !address.IsGroup(a)
}

// info returns who a rank is, as the GASPI_ variables say. A job that is not named is
// called job, and no name at all is refused.
func (v *variables) info(job string) Info {
	i := Info{Job: job, Host: localHost}
	i.Size = v.number(EnvSize, 1, manyRanks, 1)
	i.Rank = base.Rank(v.number(EnvRank, 0, i.Size, 0))
	i.LocalSize = v.number(EnvLocalSize, 1, i.Size+1, 1)
	i.LocalRank = v.number(EnvLocalRank, 0, i.LocalSize, 0)
	v.names(&i)
	return i
}

// names gives a job and a host the names that the user has chosen.
func (v *variables) names(i *Info) {
	if text, ok := v.lookup(EnvJob); ok {
		i.Job = text
	}
	if err := checkJob(i.Job); err != nil && v.err == nil {
		v.err = fmt.Errorf("%s: %w", EnvJob, err)
	}
	if text, ok := v.lookup(EnvHost); ok {
		i.Host = text
		if text == "" || len(text) > maxHost || !utf8.ValidString(text) {
			v.fail(EnvHost, text, fmt.Sprintf("the number or name of this host, 1 to %d bytes of UTF-8", maxHost))
		}
	}
}

// checkMeeting refuses an environment that says where and as whom ranks meet and makes no sense,
// before anything is asked of a process manager: it kills a process that breaks off.
func (v *variables) checkMeeting() {
	if v.has(EnvRendezvous) {
		v.addresses(EnvRendezvous)
	}
	text, _ := v.lookup(EnvInterface)
	if err := address.Check(text); err != nil && v.err == nil {
		v.err = fmt.Errorf("%s: %w", EnvInterface, err)
	}
	v.names(&Info{Job: "job"})
}

// EnvVerbose is "1" when the first rank of each host says which transport it uses, as
// gaspi-run -v has it.
const EnvVerbose = "GASPI_VERBOSE"

// EnvLocalCores is how many cores the ranks of this host share. A rank that is
// bound to one core cannot find it out by itself. Missing, it is what the Go
// runtime says.
const EnvLocalCores = "GASPI_LOCAL_CORES"

const mostCores = 1 << 20 // more cores than any host has

// CheckVariables returns an error that names the first variable that makes no sense, of those that
// every rank reads, however it was started. An empty one is as one that is not set.
func CheckVariables() error {
	v := &variables{lookup: func(name string) (string, bool) {
		text := os.Getenv(name)
		return text, text != ""
	}}
	v.flag(EnvVerbose)
	v.flag(EnvTLS)
	v.ports(EnvPorts)
	v.number(EnvLocalCores, 1, mostCores, 1)
	return v.err
}
