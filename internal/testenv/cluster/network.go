package cluster

import (
	"bytes"
	"fmt"
	"maps"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/gaspi-go/gaspi-go/internal/sys/process"
)

// connect joins all hosts by a bridge. Port pN of the switch is eth0 of the host
// with index N.
func (c *Cluster) connect() error {
	ports := "link add br0 type bridge\nlink set br0 up\n"
	for _, h := range c.all() {
		ports += fmt.Sprintf("link add p%d type veth peer name eth0 netns %d\nlink set p%d master br0 up\n",
			h.Index, h.init.Process.Pid, h.Index)
	}
	if err := c.wire.ip(ports); err != nil {
		return err
	}
	for _, h := range c.all() {
		// nodad: nobody else can have the address, and waiting to be sure takes seconds.
		text := fmt.Sprintf("addr add %s/24 dev eth0\naddr add %s/64 dev eth0 nodad\nlink set eth0 up\n", h.IPv4, h.IPv6)
		if err := h.ip(text); err != nil {
			return err
		}
	}
	return nil
}

// ip runs lines of ip(8) in the network of a host.
func (h *Host) ip(lines string) error {
	return h.inNetwork(lines, "ip", "-batch", "-")
}

// inNetwork runs a command in the network of a host and nowhere else of it:
// process numbers are those of the test.
func (h *Host) inNetwork(stdin, name string, args ...string) error {
	enter := []string{"--target", strconv.Itoa(h.init.Process.Pid), "--net", "--", name}
	cmd := exec.Command("nsenter", append(enter, args...)...)
	cmd.Env = environment()
	cmd.Stdin = strings.NewReader(stdin)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s on %s: %w: %s", name, h.Name, err, bytes.TrimSpace(out))
	}
	return nil
}

// Within runs do in a thread of this process that is on the host's network, and only
// there: what do makes, sockets above all, belongs to that network for good. Goroutines
// that do starts are not on it.
func (h *Host) Within(do func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		err := process.EnterNetwork(fmt.Sprintf("/proc/%d/ns/net", h.init.Process.Pid))
		if err == nil {
			err = do()
		}
		done <- err
	}()
	return <-done
}

// Cut takes the host off the switch, like a cable that is pulled: nobody is told,
// packets both ways are lost. Processes on it go on.
func (c *Cluster) Cut(h *Host) { c.port(h, "down") }

// Heal plugs the host in again.
func (c *Cluster) Heal(h *Host) { c.port(h, "up") }

func (c *Cluster) port(h *Host, state string) {
	c.t.Helper()
	if err := c.wire.ip(fmt.Sprintf("link set p%d %s\n", h.Index, state)); err != nil {
		c.t.Fatal(err)
	}
}

// Partition loses all packets between two hosts, while both still reach the others.
func (c *Cluster) Partition(a, b *Host) {
	c.t.Helper()
	c.cut[[2]int{a.Index, b.Index}] = true
	c.cut[[2]int{b.Index, a.Index}] = true
	c.filter()
}

// CutOneWay loses all packets that host from sends to host to, and none of the others.
func (c *Cluster) CutOneWay(from, to *Host) {
	c.t.Helper()
	c.cut[[2]int{from.Index, to.Index}] = true
	c.filter()
}

// Join ends a partition, or a cut in either direction.
func (c *Cluster) Join(a, b *Host) {
	c.t.Helper()
	delete(c.cut, [2]int{a.Index, b.Index})
	delete(c.cut, [2]int{b.Index, a.Index})
	c.filter()
}

// filter makes the switch drop what is cut.
func (c *Cluster) filter() {
	c.t.Helper()
	if err := c.applyCuts(); err != nil {
		c.t.Fatal(err)
	}
}

// applyCuts gives the switch the rules for what is cut now.
func (c *Cluster) applyCuts() error {
	text := "add table bridge cut\ndelete table bridge cut\ntable bridge cut {\nchain pairs {\ntype filter hook forward priority 0\n"
	byNumber := func(a, b [2]int) int { return slices.Compare(a[:], b[:]) }
	for _, p := range slices.SortedFunc(maps.Keys(c.cut), byNumber) {
		text += fmt.Sprintf("iifname p%d oifname p%d drop\n", p[0], p[1])
	}
	return c.wire.inNetwork(text+"}\n}\n", "nft", "-f", "-")
}

// Slow limits what host from sends to host to, to a rate as tc(8) takes it, such as 10mbit. Packets beyond it
// queue up at the switch, so that round trips become longer. It lasts as long as the cluster; of one host to,
// only the last limit counts.
func (c *Cluster) Slow(from, to *Host, rate string) {
	c.t.Helper()
	text := fmt.Sprintf("qdisc replace dev p%[1]d root handle 1: htb default 1\n"+
		"class replace dev p%[1]d parent 1: classid 1:1 htb rate 100gbit quantum 60000\n"+
		"class replace dev p%[1]d parent 1: classid 1:2 htb rate %[2]s quantum 60000\n"+
		"filter add dev p%[1]d parent 1: protocol ip prio 1 u32 match ip src %[3]s/32 flowid 1:2\n"+
		"filter add dev p%[1]d parent 1: protocol ipv6 prio 2 u32 match ip6 src %[4]s/128 flowid 1:2\n",
		to.Index, rate, from.IPv4, from.IPv6)
	if err := c.wire.inNetwork(text, "tc", "-batch", "-"); err != nil {
		c.t.Fatal(err)
	}
}
