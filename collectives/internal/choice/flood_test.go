package choice

import (
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/algorithms"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// Goal: blocks of 2 MiB to all three others at once are too many for the caches of a host,
// and those to one at a time or in segments are not.
func TestFloods(t *testing.T) {
	const elements = 2 << 20 / 8
	ch := &Chooser{Hosts: []int{0, 0, 0, 0}, Machine: price.Machine{Cache: 8 << 20}}
	sockets, memory := []int{0, 1, 2, 3}, []int{0, 0, 0, 0}
	for _, c := range []struct {
		name, algorithm string
		nodes           []int
		count           int
		segments        schedule.Segmentation
		want            bool
	}{
		{"at once", "direct", sockets, elements, schedule.Segmentation{}, true},
		{"of half the length", "direct", sockets, elements / 2, schedule.Segmentation{}, false},
		{"of twice the length, of which sockets hold as much", "pairwise", sockets, 2 * elements, schedule.Segmentation{}, false},
		{"through memory", "direct", memory, elements, schedule.Segmentation{}, false},
		{"a segment at a time", "direct", sockets, elements, schedule.Segmentation{Size: elements / 4, Concurrency: 1}, false},
		{"all segments at a time", "direct", sockets, elements, schedule.Segmentation{Concurrency: 4}, true},
		{"one at a time", "pairwise", sockets, elements, schedule.Segmentation{}, false},
		{"one at a time in each of many lanes", "pairwise", sockets, elements, schedule.Segmentation{Concurrency: 4}, true},
	} {
		a, err := algorithms.Lookup(schedule.AllToAll, c.algorithm)
		if err != nil {
			t.Fatal(err)
		}
		call := &Signature{Call: schedule.Call{Op: schedule.AllToAll, Size: 4, Count: c.count, Nodes: c.nodes}, Element: 8}
		if got := ch.floods(call, topologyOf(t, ch, call), Variant{Algorithm: a, Segments: c.segments}); got != c.want {
			t.Errorf("%s %s: %v, want %v", c.algorithm, c.name, got, c.want)
		}
	}
	ring, err := algorithms.Lookup(schedule.AllGather, "ring")
	if err != nil {
		t.Fatal(err)
	}
	call := &Signature{Call: schedule.Call{Op: schedule.AllGather, Size: 4, Count: 16 * elements, Nodes: sockets}, Element: 8}
	if ch.floods(call, topologyOf(t, ch, call), Variant{Algorithm: ring}) {
		t.Error("a ring, in which a rank sends to one other, floods")
	}
}

// topologyOf is the topology of a call.
func topologyOf(t *testing.T, ch *Chooser, c *Signature) *price.Topology {
	t.Helper()
	at, err := ch.where(c)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// Goal: a call through sockets finds the nearest cache to hold what it has under way by the bytes of all ranks of a core.
func TestFoundNear(t *testing.T) {
	const near = 1 << 20
	machine := price.Machine{SocketRate: 8, SocketFar: 4, Near: near, Cores: 2}
	for _, c := range []struct {
		name  string
		ranks int
		bytes int
		near  bool
	}{
		{"a core each", 2, near, true},
		{"a core each, and more", 2, near + 8, false},
		{"two of a core", 4, near / 2, true},
		{"two of a core, and more", 4, near/2 + 8, false},
		{"three of a core", 6, near / 2, false},
	} {
		ch := &Chooser{Hosts: make([]int, c.ranks), Machine: machine}
		call := &Signature{Call: schedule.Call{Op: schedule.AllReduce, Size: c.ranks, Count: c.bytes / 8}, Element: 8}
		for r := range c.ranks {
			call.Nodes = append(call.Nodes, r)
		}
		ring, err := algorithms.Lookup(schedule.AllReduce, "ring")
		if err != nil {
			t.Fatal(err)
		}
		found := ch.found(call, topologyOf(t, ch, call), Variant{Algorithm: ring})
		if found.Cached() != c.near || (found.SocketRate == machine.SocketRate) != c.near {
			t.Errorf("%s: near: %v, and sockets take %v bytes a second", c.name, found.Cached(), found.SocketRate)
		}
	}
}
