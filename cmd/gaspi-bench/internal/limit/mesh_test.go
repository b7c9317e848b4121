package limit

import (
	"context"
	"fmt"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// Goal: each way over a mesh brings every block to whom it is for, not only the
// fastest, which is the one that --verify sees: call after call, after calls of other
// ways, with blocks of one byte, of many chunks, and longer than what sockets hold.
func TestWaysOverAMesh(t *testing.T) {
	for _, ranks := range []int{1, 2, 3, 4, 5} {
		for _, block := range []int{1, 24, 5 << 10, 2*leastPortion + 8, 8 << 20} {
			if ranks > 3 && block > 1<<20 {
				continue // no more than the others, and hundreds of megabytes
			}
			among(t, fmt.Sprintf("%d/%d", ranks, block), ranks, func(ctx context.Context, b *Memory) error {
				return checkMesh(ctx, b, block)
			})
		}
	}
}

// checkMesh exchanges blocks in all ways and looks at what arrived.
func checkMesh(ctx context.Context, b *Memory, block int) error {
	n := b.P.Size()
	s := &CallShape{Op: schedule.AllToAll, Ranks: n, block: block, In: block * n, Out: block * n}
	ways, own, err := b.Mesh(ctx, s)
	if err != nil {
		return err
	}
	if want := []int{0, 1, 3}[min(2, n-1)] * len(portionsOf(block)); len(ways) != want {
		return fmt.Errorf("%d ways among %d ranks, want %d", len(ways), n, want)
	}
	return checkWays(ctx, ways, own, true)
}

// Goal: the check of a mesh sees a block that another rank has sent, or that is of the
// call before.
func TestTheCheckOfAMesh(t *testing.T) {
	for _, c := range []struct {
		name           string
		from, to, call int
		right          bool
	}{
		{"right", 1, 2, 7, true},
		{"of another rank", 0, 2, 7, false},
		{"for another rank", 1, 0, 7, false},
		{"of the call before", 1, 2, 6, false},
	} {
		for _, block := range []int{1, 16} {
			t.Run(fmt.Sprintf("%s/%d", c.name, block), func(t *testing.T) {
				m := &mesh{me: 2, fd: make([]int, 3), block: block, src: make([]byte, 3*block), dst: make([]byte, 3*block)}
				m.fill(7)
				for r := range m.fd {
					Stamp(m.of(m.dst, r), m.mark(7, r, m.me))
				}
				Stamp(m.of(m.dst, 1), m.mark(c.call, c.from, c.to))
				if err := m.check(7); (err == nil) != c.right {
					t.Errorf("got %v, right is %v", err, c.right)
				}
			})
		}
	}
}
