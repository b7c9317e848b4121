package schedule

import (
	"fmt"
	"slices"
	"testing"
)

func TestSegments(t *testing.T) {
	for _, c := range []struct {
		how  Segmentation
		n    int
		want []Range
	}{
		// Listing 1: segments of a size, the last has the rest.
		{Segmentation{Size: 4}, 12, []Range{{0, 4}, {4, 4}, {8, 4}}},
		{Segmentation{Size: 4}, 13, []Range{{0, 4}, {4, 4}, {8, 4}, {12, 1}}},
		{Segmentation{Size: 4}, 4, []Range{{0, 4}}},
		{Segmentation{Size: 4}, 3, []Range{{0, 3}}},
		{Segmentation{Size: 4}, 0, []Range{{0, 0}}},
		{Segmentation{Size: 1}, 2, []Range{{0, 1}, {1, 1}}},
		{Segmentation{Size: 5, Concurrency: 2}, 11, []Range{{0, 5}, {5, 5}, {10, 1}}},
		// Listing 2: so many segments, the last also has what does not divide.
		{Segmentation{Concurrency: 3}, 12, []Range{{0, 4}, {4, 4}, {8, 4}}},
		{Segmentation{Concurrency: 3}, 14, []Range{{0, 4}, {4, 4}, {8, 6}}},
		{Segmentation{Concurrency: 3}, 3, []Range{{0, 1}, {1, 1}, {2, 1}}},
		{Segmentation{Concurrency: 3}, 2, []Range{{0, 2}}},
		{Segmentation{Concurrency: 1}, 7, []Range{{0, 7}}},
		{Segmentation{}, 7, []Range{{0, 7}}},
		{Segmentation{Concurrency: 3}, 0, []Range{{0, 0}}},
	} {
		if got := c.how.Segments(c.n); !slices.Equal(got, c.want) {
			t.Errorf("%+v of %d: got %v, want %v", c.how, c.n, got, c.want)
		}
	}
}

func TestChunksCoverTheVector(t *testing.T) {
	for parts := 1; parts <= 17; parts++ {
		for n := range 40 {
			next, shortest, longest := 0, n, 0
			for i := range parts {
				r := Chunk(n, parts, i)
				if r.Off != next {
					t.Fatalf("chunk %d of %d of %d elements begins at %d, not %d", i, parts, n, r.Off, next)
				}
				if i > 0 && r.Len > shortest {
					t.Fatalf("chunk %d of %d of %d elements is longer than one before it", i, parts, n)
				}
				next, shortest, longest = r.Off+r.Len, min(shortest, r.Len), max(longest, r.Len)
			}
			if next != n || longest-shortest > 1 {
				t.Fatalf("%d chunks of %d elements end at %d, with %d to %d elements", parts, n, next, shortest, longest)
			}
		}
	}
}

func ExampleChunk() {
	for i := range 3 {
		fmt.Println(Chunk(8, 3, i))
	}
	// Output:
	// {0 3}
	// {3 3}
	// {6 2}
}
