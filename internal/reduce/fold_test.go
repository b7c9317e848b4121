package reduce

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/simd"
)

// TestFold holds folds to the oracle, applied from left to right, for two
// to nine sources.
func TestFold(t *testing.T) {
	eachKernel(t, func(t *testing.T, s subject, l simd.Level, op Op) {
		if s.kind == kindComplex64 {
			return // aligned as float32, of which it is made
		}
		r := rand.New(rand.NewPCG(3, uint64(op)))
		fold := foldOf(l, s.kind, op)
		for sources := 2; sources <= 9; sources++ {
			for i, n := range []int{0, 3, 40, 100 + sources} {
				checkFold(t, r, s, op, fold, sources, n, (i+sources)%3)
			}
		}
	})
}

// TestFoldInPieces compares with a Kernel, since the oracle is too slow for so much.
func TestFoldInPieces(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for _, s := range []subject{subjects()[kindInt8], subjects()[kindFloat64], subjects()[kindLocFloat64]} {
		op := s.ops()[0]
		n := foldPiecesFrom/s.size + 5
		kernel, fold := kernelOf(best, s.kind, op), foldOf(best, s.kind, op)
		part := s.random(r, 4096)
		source := func(i int) []byte {
			return slices.Concat(part[i*s.size:], bytes.Repeat(part, n/4096+1))[:n*s.size]
		}
		for _, count := range []int{2, 3, 4, 6} {
			sources := [][]byte{source(0), source(1)}
			want := aligned(n * s.size)
			kernel(want, sources[0], sources[1])
			for i := 2; i < count; i++ {
				sources = append(sources, source(i))
				kernel(want, want, sources[i])
			}
			fold(sources[1], sources)
			if !bytes.Equal(sources[1], want) {
				t.Errorf("%v of %d sources of %s differs from that of one after the other", op, count, s.name)
			}
		}
	}
}

// checkFold runs one fold; alias 1 and 2 make dst one of the first sources.
func checkFold(t *testing.T, r *rand.Rand, s subject, op Op, fold Fold, count, n, alias int) {
	t.Helper()
	var sources [][]byte
	for range count {
		at := r.IntN(64) * s.size
		sources = append(sources, s.random(r, n+64)[at:at+n*s.size])
	}
	want := slices.Clone(sources[0])
	for _, src := range sources[1:] {
		for i := 0; i < len(want); i += s.size {
			copy(want[i:], oracle(s.kind, op, want[i:i+s.size], src[i:i+s.size]))
		}
	}
	canary := bytes.Repeat([]byte{0xA5}, 64)
	dst := sources[max(alias-1, 0)]
	after := []byte(nil)
	if alias == 0 {
		mem := slices.Concat(aligned(n*s.size+64), canary)
		dst, after = mem[:n*s.size], mem[n*s.size:n*s.size+64]
	}
	fold(dst, sources)
	if !bytes.Equal(dst, want) {
		t.Fatalf("%d sources of %d elements, alias %d: wrong", count, n, alias)
	}
	if !bytes.Equal(after, make([]byte, len(after))) {
		t.Fatalf("%d sources of %d elements: wrote behind dst", count, n)
	}
}

func TestFoldRefuses(t *testing.T) {
	mem := aligned(64)
	fold, err := FoldOf[int32](Sum)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := FoldOf[float32](Or); err == nil {
		t.Error("there is a fold of bits for floats")
	}
	for _, c := range []struct {
		name, want string
		call       func()
	}{
		{"one source", "takes two or more", func() { fold(mem[:8], [][]byte{mem[8:16]}) }},
		{"short source", "one length", func() { fold(mem[:8], [][]byte{mem[8:16], mem[16:24], mem[24:28]}) }},
		{"misaligned source", "aligned", func() { fold(mem[:8], [][]byte{mem[8:16], mem[17:25]}) }},
		{"part of an element", "whole elements", func() { fold(mem[:6], [][]byte{mem[8:14], mem[16:22]}) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, c.want) {
					t.Errorf("panic is %q, want one with %q", got, c.want)
				}
			}()
			c.call()
		})
	}
}

func TestFoldAllocatesNothing(t *testing.T) {
	fold, err := FoldOf[float64](Sum)
	if err != nil {
		t.Fatal(err)
	}
	dst, a, b := aligned(4096), aligned(4096), aligned(4096)
	sources := [][]byte{a, b, a, b, a, b}
	if allocs := testing.AllocsPerRun(10, func() { fold(dst, sources) }); allocs != 0 {
		t.Errorf("%v allocations per run, want 0", allocs)
	}
}
