package choice

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/algorithms"
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
