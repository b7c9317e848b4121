package reduce

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
)

// TestCodes makes sure that a code is the operation it was made of, for every type and
// operation, and that no number stands for what does not exist.
func TestCodes(t *testing.T) {
	valid := map[Code]bool{}
	check := func(s subject, op Op, code Code, err error) {
		t.Helper()
		if s.kind.supports(op) != (err == nil) {
			t.Fatalf("%s %v: error %v", s.name, op, err)
		}
		if err != nil {
			return
		}
		if valid[code] {
			t.Fatalf("%s %v: code %#x stands for another operation too", s.name, op, code)
		}
		valid[code] = true
		fold, twice, size, err := code.Fold()
		if err != nil || size != s.size {
			t.Fatalf("%s %v: elements of %d bytes, want %d; error %v", s.name, op, size, s.size, err)
		}
		for _, a := range s.specials {
			for _, b := range s.specials {
				// Kernels want addresses that suit the type.
				mem := BytesOf(make([]complex128, 5))
				x, y, got, back := mem[:s.size], mem[16:][:s.size], mem[32:][:s.size], mem[48:][:s.size]
				copy(x, a)
				copy(y, b)
				fold(got, [][]byte{x, y})
				want := BytesOf(make([]complex128, 1))[:s.size]
				s.into(best, op, want, x, y)
				if !bytes.Equal(got, want) {
					t.Fatalf("%s %v of %x and %x is %x, want %x", s.name, op, a, b, got, want)
				}
				clear(got)
				if twice(got, back, [][]byte{x, y}); !bytes.Equal(got, want) || !bytes.Equal(back, want) {
					t.Fatalf("%s %v of %x and %x in two places is %x and %x, want %x", s.name, op, a, b, got, back, want)
				}
			}
		}
	}
	subs := subjects()
	for op := range Op(numOps + 1) {
		for i, of := range codesOf(op) {
			check(subs[i], op, of.code, of.err)
		}
	}
	for c := range Code(1 << 17) {
		if _, _, _, err := c.Fold(); (err == nil) != valid[c] {
			t.Fatalf("code %#x: error %v, but it %s", c, err, map[bool]string{true: "stands for an operation", false: "stands for none"}[valid[c]])
		}
	}
}

type codeOrError struct {
	code Code
	err  error
}

// codesOf are the codes of op for all types, in the order of subjects.
func codesOf(op Op) []codeOrError {
	return []codeOrError{
		codeOf[int8](op), codeOf[int16](op), codeOf[int32](op), codeOf[int64](op),
		codeOf[uint8](op), codeOf[uint16](op), codeOf[uint32](op), codeOf[uint64](op),
		codeOf[float32](op), codeOf[float64](op), codeOf[Float16](op), codeOf[BFloat16](op),
		codeOf[complex64](op), codeOf[complex128](op),
		codeOf[Loc[int32]](op), codeOf[Loc[int64]](op), codeOf[Loc[float32]](op), codeOf[Loc[float64]](op),
	}
}

func codeOf[T Element](op Op) codeOrError {
	c, err := CodeOf[T](op)
	if err != nil && c != 0 {
		err = fmt.Errorf("code %#x in spite of an error: %w", c, err)
	}
	return codeOrError{c, err}
}

// TestFoldOfCode gives folds of codes operands that are not of one length, not whole elements, or too few.
func TestFoldOfCode(t *testing.T) {
	code, err := CodeOf[float32](Sum)
	if err != nil {
		t.Fatal(err)
	}
	fold, twice, _, err := code.Fold()
	if err != nil {
		t.Fatal(err)
	}
	mem := BytesOf(make([]float32, 64))
	for _, c := range []struct{ dst, left, right int }{{8, 8, 4}, {8, 12, 8}, {6, 6, 6}, {8, 8, -1}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("operands of %d and %d bytes were folded into %d", c.left, c.right, c.dst)
				}
			}()
			sources := [][]byte{mem[16:][:c.left]}
			if c.right >= 0 {
				sources = append(sources, mem[32:][:c.right])
			}
			fold(mem[:c.dst], sources)
		}()
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("operands of 8 bytes were folded into 8 and %d", c.left)
				}
			}()
			twice(mem[:8], mem[128:][:min(c.left, 6)], [][]byte{mem[16:][:8], mem[32:][:8]})
		}()
	}
}

// TestFoldTwiceOfCode folds 2 to 5 vectors, of lengths with and without vector instructions, into two places.
func TestFoldTwiceOfCode(t *testing.T) {
	code, err := CodeOf[int32](Sum)
	if err != nil {
		t.Fatal(err)
	}
	_, twice, _, err := code.Fold()
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{1, 15, 16, 1000, 5000} {
		for count := 2; count <= 5; count++ {
			var sources [][]byte
			want, dst, back := make([]int32, n), make([]int32, n), make([]int32, n)
			for k := range count {
				v := make([]int32, n)
				for i := range v {
					v[i] = int32(i * (k + 3))
					want[i] += v[i]
				}
				sources = append(sources, BytesOf(v))
			}
			twice(BytesOf(dst), BytesOf(back), sources)
			if !slices.Equal(dst, want) || !slices.Equal(back, want) {
				t.Errorf("%d vectors of %d elements: not their sum in both places", count, n)
			}
		}
	}
}
