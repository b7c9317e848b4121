package executor

import (
	"slices"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/sys/cpu"
)

// Memory that ranks write in turns goes from core to core, cache line by line. A
// rank that reads a line and writes it afterwards waits for it twice, unless it asks
// for it to write it in the first place. It asks where it copies from its own
// scratch what another left there, to put something there in the next run, and where
// it folds two vectors into two places, one of which holds one of them.

// Bytes that an operation of the program folds while as many are asked for: of a few
// lines the calls take longer than the fold, of many the core has no room to ask for
// them all. Operations of package collectives ask as they go, which takes a sixth less.
// Folds of more than two are not worth it, as ranks mostly share cores then.
const aheadBlock = 2 << 10

// aheadFrom is from how many bytes on asking costs less than it gains.
const aheadFrom = 1 << 10

// ask sets what a fold or a copy asks for.
func (w *work) ask(s *schedule.Step, me int, bytes int) {
	if bytes < aheadFrom {
		return
	}
	switch {
	case len(s.Src) == 1 && len(s.Dst) == 1:
		src, dst := s.Src[0], s.Dst[0]
		w.ahead = int(src.Rank) == me && src.Buf == schedule.Scratch && int(dst.Rank) == me && dst.Buf >= schedule.In
	case len(s.Src) == 2 && len(s.Dst) == 2:
		w.ahead = slices.Contains(s.Src, s.Dst[0]) || slices.Contains(s.Src, s.Dst[1])
	}
}

// foldAhead is fold of an instruction that asks for what it needs.
func (f *folder) foldAhead(e *Execution, dst, src []operand) {
	out, a := e.bytes(&dst[0]), e.bytes(&src[0])
	if len(src) == 1 {
		cpu.CopyAhead(out, a)
		return
	}
	b, back := e.bytes(&src[1]), e.bytes(&dst[1])
	if e.of.folds.Twice != nil { // the operation is none of the program's
		e.of.folds.Twice(out, back, a, b)
		return
	}
	block, n := e.of.ahead, len(out)
	cpu.PrefetchAll(back[:min(block, n)])
	for at := 0; at < n; at += block {
		end := min(at+block, n)
		cpu.PrefetchAll(back[end:min(end+block, n)])
		e.kernel(out[at:end], a[at:end], b[at:end])
		copy(back[at:end], out[at:end])
	}
}
