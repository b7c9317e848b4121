package choice

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/algorithms"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// How plain slices are cut: in long segments, two at a time, of which there is one where the vector
// is no longer; of each block in shorter ones the more blocks there are.
func TestSegmentsOfPlainSlices(t *testing.T) {
	for _, c := range []struct {
		name      string
		op        schedule.Operation
		algorithm string
		ranks     int
		bytes     int
		want      []schedule.Segmentation
	}{
		{"shared, one segment", schedule.AllReduce, "shared", 4, 1 << 20, []schedule.Segmentation{{}}},
		{"shared, several", schedule.AllReduce, "shared", 4, 1<<20 + 8, []schedule.Segmentation{{Size: 128 << 10, Concurrency: 2}}},
		{"messages, one segment", schedule.AllReduce, "ring", 4, 512 << 10, []schedule.Segmentation{{}}},
		{"messages, several", schedule.AllReduce, "ring", 4, 512<<10 + 8,
			[]schedule.Segmentation{{Size: 64 << 10, Concurrency: 1}, {Size: 64 << 10, Concurrency: 2}}},
		{"blocks of two", schedule.AllGather, "direct", 2, 2 << 20, []schedule.Segmentation{{Size: 128 << 10, Concurrency: 2}}},
		{"blocks of eight", schedule.AllGather, "direct", 8, 2 << 20, []schedule.Segmentation{{Size: 32 << 10, Concurrency: 2}}},
		{"blocks of many", schedule.AllGather, "direct", 1000, 2 << 20, []schedule.Segmentation{{Size: 16 << 10, Concurrency: 2}}},
		{"a single rank", schedule.AllGather, "direct", 1, 2 << 20, []schedule.Segmentation{{Size: 128 << 10, Concurrency: 2}}},
		{"from a root", schedule.Broadcast, "direct", 4, 1 << 20, []schedule.Segmentation{{Concurrency: 1}, {Concurrency: 4}}},
		{"from a root, short", schedule.Broadcast, "direct", 4, 128 << 10, []schedule.Segmentation{{}}},
		{"from a root, long", schedule.Broadcast, "direct", 4, 2 << 20, []schedule.Segmentation{{Size: 128 << 10, Concurrency: 2}}},
		{"never cut", schedule.AllGather, "bruck", 4, 2 << 20, []schedule.Segmentation{{}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, err := algorithms.Lookup(c.op, c.algorithm)
			if err != nil {
				t.Fatal(err)
			}
			call := Signature{Call: schedule.Call{Op: c.op, Size: c.ranks, Count: c.bytes / 8, Line: 8}, Element: 8, Plain: true}
			if diff := cmp.Diff(c.want, segmentations(&call, a, Settings{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Goal: over sockets of one host, a long vector that goes one way alone is not cut, and one that goes both
// ways at a time is.
func TestOneWayIsNotCut(t *testing.T) {
	for _, c := range []struct {
		op  schedule.Operation
		cut bool
	}{{schedule.Broadcast, false}, {schedule.AllToAll, true}} {
		m := machine()
		m.Network = price.Link{Latency: 0.5e-6, Put: 3.5e-6, Signal: 3.5e-6}
		m.Take, m.Bandwidth, m.SocketFar, m.Near, m.Cores = 2.5e-6, 20e9, 4.5e9, 1<<20, 2
		call := call(c.op, 1<<20)
		call.Size, call.Nodes = 2, []int{0, 1}
		v, err := (&Chooser{Machine: m, Hosts: []int{0, 0}}).Choose(call)
		if err != nil {
			t.Fatal(err)
		}
		if cut := v.cuts() > 0; cut != c.cut {
			t.Errorf("%v of 8 MiB: chose %v", c.op, v)
		}
	}
}
