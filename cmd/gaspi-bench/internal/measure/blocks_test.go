package measure

import (
	"testing"
	"time"
)

func TestBlocksFor(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name        string
		time, block time.Duration
		want        int
	}{
		{"as many as fit", 400 * ms, 2 * ms, 200},
		{"not fewer than a percentile needs", 400 * ms, 100 * ms, 15},
		{"one that takes all of the time", 100 * ms, 100 * ms, 15},
		{"longer than the time", 50 * ms, 100 * ms, 7},
		{"much longer than the time", 10 * ms, 1000 * ms, 5},
		{"very short", 400 * ms, 1, 4000},
		{"too short to see", 400 * ms, 0, 4000},
	} {
		if got := blocksFor(c.time, c.block); got != c.want {
			t.Errorf("%s: %d blocks, want %d", c.name, got, c.want)
		}
	}
}

func TestIsKnown(t *testing.T) {
	const us, enough = time.Microsecond, blockTime / 2
	for _, c := range []struct {
		runs  int
		least time.Duration
		want  bool
	}{
		{0, 1 << 62, false},
		{1, 10 * us, false},
		{1, 5000 * us, false},
		{2, 10 * us, true},
		{2, enough - 1, true},
		{2, enough, false},
		{2, 2*blockTime - 1, false},
		{2, 2 * blockTime, true},
		{warmBlocks - 1, enough, false},
		{warmBlocks - 1, enough - 1, true},
		{warmBlocks, enough, true},
	} {
		if got := isKnown(c.runs, c.least, enough); got != c.want {
			t.Errorf("%d blocks, the shortest %v: known %v, want %v", c.runs, c.least, got, c.want)
		}
	}
}
