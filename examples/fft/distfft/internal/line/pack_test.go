package line

import (
	"fmt"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/simd"
)

// Goal: lines come to the lanes of a tile and back, times scale, and nothing else is written, whatever is
// left beside whole blocks.
func TestPacker(t *testing.T) {
	for l := simd.Scalar; l <= simd.Supported(); l++ {
		t.Run(l.String(), func(t *testing.T) {
			for _, n := range []int{1, 2, 3, 4, 7, 8, 9, 16, 29} {
				for w := 1; w <= 19; w++ {
					t.Run(fmt.Sprintf("%d points of %d lines", n, w), func(t *testing.T) {
						packAndUnpack(t, newPacker[float64](l), n, w)
						packAndUnpack(t, newPacker[float32](l), n, w)
					})
				}
			}
		})
	}
}

func packAndUnpack[F Real](t *testing.T, p Packer[F], n, w int) {
	const guard, scale = -1, 4
	tile := make([]F, 2*n*w+1)
	tile[2*n*w] = guard
	number := func(i, l int) F { return F(2 * (i*w + l)) }
	lines, back := rows[F](w, n), rows[F](w, n)
	for l, line := range lines {
		for i := range n {
			line[2*i], line[2*i+1] = number(i, l), number(i, l)+1
		}
		behind := back[l][2*n : 2*n+2]
		behind[0], behind[1] = guard, guard
	}
	p.Pack(tile, lines)
	for at, v := range tile[:2*n*w] {
		if v != F(at) {
			t.Fatalf("%T: number %d of the tile is %v", v, at, v)
		}
	}
	p.Unpack(back, tile, scale)
	for l, line := range back {
		for i := range n {
			if line[2*i] != scale*number(i, l) || line[2*i+1] != scale*(number(i, l)+1) {
				t.Fatalf("%T: point %d of line %d is %v", F(0), i, l, line[2*i:2*i+2])
			}
		}
		if behind := line[2*n : 2*n+2]; behind[0] != guard || behind[1] != guard {
			t.Fatalf("%T: %v is written behind line %d", F(0), behind, l)
		}
	}
	if tile[2*n*w] != guard {
		t.Fatalf("%T: the number behind the tile has changed", F(0))
	}
}

func BenchmarkPack(b *testing.B) {
	for _, pack := range []bool{true, false} {
		b.Run(map[bool]string{true: "pack", false: "unpack"}[pack], func(b *testing.B) {
			const n, w = 128, 16
			p, tile, lines := NewPacker[float64](), make([]float64, 2*n*w), rows[float64](w, n)
			b.SetBytes(16 * n * w)
			for b.Loop() {
				if pack {
					p.Pack(tile, lines)
				} else {
					p.Unpack(lines, tile, 1)
				}
			}
		})
	}
}
