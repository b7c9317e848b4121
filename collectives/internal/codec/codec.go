// Package codec turns vectors into shorter forms and back: for links that are
// slower than the processor. It is pure: bytes in, bytes out, no I/O, no goroutine.
// Package collectives uses it where a call asks for compression.
//
// A form says how long it is and how it was made, so that only the part in use need
// travel, and no vector grows by more than a header. A form that arrives is not
// trusted: Decode returns an error and leaves nothing but garbage in its
// destination, whatever it is given.
package codec

import (
	"errors"
	"fmt"
	"math"
)

// A Method is a way to code. Methods are equal if they do the same. The zero
// Method is none.
type Method struct {
	kind  methodKind
	value float64
}

type methodKind uint8

const (
	none methodKind = iota
	lossless
	errorBound
	topK
)

// Lossless gives back the same bits: bytes of equal weight are brought together and
// compressed. Vectors that do not shrink cost little time.
func Lossless() Method { return Method{kind: lossless} }

// ErrorBound gives back numbers that differ from what they were by at most bound,
// which is positive. A number that has no multiple of twice the bound near it, such as an
// infinity, NaN or a number beyond 2^30 times that, is kept exactly.
func ErrorBound(bound float64) Method { return Method{errorBound, bound} }

// TopK gives back the part of the numbers that is largest by magnitude, at least
// one, and 0 for all others. fraction is in (0,1]. Infinities and NaN are the
// largest, and all of them are kept. Vectors that this would not make shorter are
// kept as they are.
func TopK(fraction float64) Method { return Method{topK, fraction} }

// None reports whether m is no method at all.
func (m Method) None() bool { return m.kind == none }

// Lossy reports whether m gives back other numbers than it was given.
func (m Method) Lossy() bool { return m.kind == errorBound || m.kind == topK }

// String is the method as messages show it.
func (m Method) String() string {
	switch m.kind {
	case lossless:
		return "lossless"
	case errorBound:
		return fmt.Sprintf("error bound %v", m.value)
	case topK:
		return fmt.Sprintf("top %v", m.value)
	}
	return "not compressed"
}

// ErrElement says that a method cannot code elements of that kind.
var ErrElement = errors.New("only floating-point numbers can be coded with loss")

// Check returns why m cannot code such elements, or nil.
func (m Method) Check(e Element) error {
	switch {
	case m.kind == errorBound && !(m.value > 0 && m.value <= math.MaxFloat64):
		return fmt.Errorf("the error bound is %v; want a positive number, or Lossless", m.value)
	case m.kind == topK && !(m.value > 0 && m.value <= 1):
		return fmt.Errorf("the part to keep is %v; want a number in (0,1]", m.value)
	case m.Lossy() && e.Number == Opaque:
		return ErrElement
	case e.Size < 1 || e.Number != Opaque && e.Size != sizes[e.Number]:
		return fmt.Errorf("elements of %d bytes", e.Size)
	}
	return nil
}

// An Element is what vectors consist of.
type Element struct {
	Size   int // bytes
	Number Number
}

// A Number is how an element stands for a number. All are little-endian.
type Number uint8

// Numbers.
const (
	Opaque Number = iota // none, or one that is coded without loss only
	Float32
	Float64
	Float16
	BFloat16
)

var sizes = [...]int{Float32: 4, Float64: 8, Float16: 2, BFloat16: 2}
