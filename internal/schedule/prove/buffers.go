package prove

import "github.com/gaspi-go/gaspi-go/internal/schedule"

// The memories of a rank, in the order of its part of check.memories. The two
// copies of Flip are one each, as are those of Eager, behind all others. Vectors are In, Out and
// Extra.
const (
	scratch = iota
	flip    // and flip+1
	_
	vectors
)

// stride is how many memories a rank has.
func (k *check) stride() int { return k.eagers() + k.opts.Depth.Copies }

// eagers is which memory of a rank is the first copy of Eager.
func (k *check) eagers() int { return vectors + 2 + k.opts.Locals - 1 }

// memoryOf is the memory that a buffer of a rank names in the present run.
func (k *check) memoryOf(rank int32, buf schedule.Buffer) *memory {
	at := scratch
	switch {
	case buf == schedule.Flip:
		at = flip + k.run%2
	case buf == schedule.Eager:
		at = k.eagers() + k.opts.Depth.Copy(k.run)
	case buf >= schedule.In:
		at = vectors + int(buf-schedule.In)
	}
	return &k.memories[int(rank)*k.stride()+at]
}

// nameBuffers lists the buffers of the caller.
func (k *check) nameBuffers() {
	k.buffers = append(k.buffers[:0], schedule.In, schedule.Out)
	for i := range k.opts.Locals - 1 {
		k.buffers = append(k.buffers, schedule.Extra(i))
	}
}

// placed is where In or Out of a rank lies: in itself, or in the other one.
func (k *check) placed(rank int, buf schedule.Buffer) schedule.Piece {
	n := k.call.InLen(rank)
	if buf == schedule.Out {
		n = k.call.OutLen(rank)
	}
	at := schedule.Piece{Buf: buf}
	if k.layout != nil {
		if p := k.layout(buf, rank); p != nil {
			at = p[0]
		}
	}
	at.Len = n
	return at
}

// length is how many elements a buffer of a rank has, false if there is no such
// buffer. Of vectors that share memory, one has the length of the longer and the
// other none.
func (k *check) length(rank int, buf schedule.Buffer) (int, bool) {
	switch {
	case buf == schedule.Scratch:
		return k.plans[0].Scratch, true
	case buf == schedule.Flip:
		return k.plans[0].Flip, true
	case buf == schedule.Eager:
		return k.plans[0].Eager, true
	case buf == schedule.In || buf == schedule.Out:
		n := 0
		for _, v := range []schedule.Buffer{schedule.In, schedule.Out} {
			if p := k.placed(rank, v); p.Buf == buf {
				n = max(n, p.Off+p.Len)
			}
		}
		return n, true
	}
	return k.call.InLen(rank), int(buf-schedule.Extra(0)) < k.opts.Locals-1
}
