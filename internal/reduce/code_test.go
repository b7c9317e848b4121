package reduce

import (
	"bytes"
	"fmt"
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
		fold, size, err := code.Fold()
		if err != nil || size != s.size {
			t.Fatalf("%s %v: elements of %d bytes, want %d; error %v", s.name, op, size, s.size, err)
		}
		for _, a := range s.specials {
			for _, b := range s.specials {
				// Kernels want addresses that suit the type.
				mem := BytesOf(make([]complex128, 4))
				x, y, got := mem[:s.size], mem[16:][:s.size], mem[32:][:s.size]
				copy(x, a)
				copy(y, b)
				fold(got, [][]byte{x, y})
				want := BytesOf(make([]complex128, 1))[:s.size]
				s.into(best, op, want, x, y)
				if !bytes.Equal(got, want) {
					t.Fatalf("%s %v of %x and %x is %x, want %x", s.name, op, a, b, got, want)
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
		if _, _, err := c.Fold(); (err == nil) != valid[c] {
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
	fold, _, err := code.Fold()
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
	}
}
