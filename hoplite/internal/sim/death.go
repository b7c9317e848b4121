package sim

import "github.com/gaspi-go/gaspi-go/hoplite/internal/core"

// die kills a rank. Of what it has sent, each peer still gets a part that ends at a moment
// of its own; of the bytes of its last puts any part may arrive. After that the peer learns.
func (x *explorer) die(w *world, d core.Rank) {
	live := 0
	for _, dead := range w.dead {
		if !dead {
			live++
		}
	}
	if live == 1 || x.ended {
		return
	}
	w.tracef("%d dies", d)
	w.dead[d] = true
	if x.report.Deaths++; x.report.Deaths == 1 {
		x.report.FirstDeath = w.steps
	}
	for h := range x.holds {
		if h.rank == d {
			delete(x.holds, h)
		}
	}
	last := make([]int64, w.cfg.Size)
	for r := range last {
		last[r] = w.now + x.rng.Int64N(longDelay)
	}
	w.queue.DeleteFunc(func(e *event) bool {
		if e.from != d || e.kind != deliver && e.kind != land {
			return e.rank == d
		}
		if e.at <= last[e.rank] {
			return e.rank == d
		}
		if e.kind == land && x.rng.IntN(2) == 0 {
			e.at = last[e.rank]
			n := x.rng.Int64N(e.cmd.Len + 1)
			e.cmd.Len, e.cmd.Data, e.cmd.Watermark = n, e.cmd.Data[:n], 0
			return false
		}
		return true
	})
	for r := range w.cores {
		if !w.dead[r] {
			w.at(last[r]+x.rng.Int64N(longDelay), notice, core.Rank(r)).from = d
		}
	}
}
