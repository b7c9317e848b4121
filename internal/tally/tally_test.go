package tally

import (
	"sync"
	"testing"
)

// TestTally counts beyond what one word holds: many operations, many bytes, and large ones.
func TestTally(t *testing.T) {
	for _, c := range []struct {
		name        string
		times, size uint64
	}{
		{"nothing", 0, 0},
		{"operations without bytes", 1<<24 + 5, 0},
		{"bytes beyond 40 bits", 1 << 12, 1<<32 - 1},
		{"operations of 4 GiB", 10, 1 << 32},
		{"the largest", 3, 1 << 60},
	} {
		t.Run(c.name, func(t *testing.T) {
			var n Tally
			for range c.times {
				n.Add(c.size)
			}
			var alone Tally
			for range c.times {
				alone.AddSerialized(c.size)
			}
			for _, n := range []*Tally{&n, &alone} {
				if count, bytes := n.Read(); count != c.times || bytes != c.times*c.size {
					t.Errorf("%d operations and %d bytes, want %d and %d", count, bytes, c.times, c.times*c.size)
				}
			}
		})
	}
}

// TestTallyOfMany has goroutines that add, one that merges and one that reads: nothing is lost, and what is
// read only grows.
func TestTallyOfMany(t *testing.T) {
	const adders, times, size = 4, 20_000, 1 << 31
	var n Tally
	var all sync.WaitGroup
	for range adders {
		all.Go(func() {
			for range times {
				n.Add(size)
			}
		})
	}
	all.Go(func() {
		for range times {
			n.Merge(1, size)
		}
	})
	all.Go(func() {
		var count, bytes uint64
		for range times {
			c, b := n.Read()
			if c < count || b < bytes || b != c*size {
				t.Errorf("%d operations and %d bytes after %d and %d", c, b, count, bytes)
				return
			}
			count, bytes = c, b
		}
	})
	all.Wait()
	if count, bytes := n.Read(); count != (adders+1)*times || bytes != (adders+1)*times*size {
		t.Errorf("%d operations and %d bytes", count, bytes)
	}
}

func BenchmarkAdd(b *testing.B) {
	b.ReportAllocs()
	var n Tally
	for b.Loop() {
		n.Add(8)
	}
}
