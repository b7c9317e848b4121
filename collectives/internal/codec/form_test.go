package codec

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"testing"
)

func TestCorruptForms(t *testing.T) {
	for _, m := range []Method{Lossless(), ErrorBound(0.01), TopK(0.1)} {
		c := coder(t, m, float32s)
		src := made(float32s, 30000, func(i int) float64 { return math.Sin(float64(i) / 100) })
		form, _ := thereAndBack(t, c, src, nil)
		dst := make([]byte, len(src))
		word := func(at int, v uint64) func([]byte) []byte {
			return func(b []byte) []byte { binary.LittleEndian.PutUint64(b[at:], v); return b }
		}
		for name, change := range map[string]func(b []byte) []byte{
			"nothing":         func(b []byte) []byte { return nil },
			"no header":       func(b []byte) []byte { return b[:HeaderSize-1] },
			"cut":             func(b []byte) []byte { return b[:len(b)-1] },
			"other magic":     func(b []byte) []byte { b[1]++; return b },
			"unknown scheme":  func(b []byte) []byte { b[4] = 77; return b },
			"other scheme":    func(b []byte) []byte { b[4] = byte(plain); return b },
			"other length":    word(8, 29999),
			"too long":        word(16, math.MaxUint64),
			"shorter":         word(16, uint64(len(form)-HeaderSize-1)),
			"empty":           word(16, 0),
			"odd first block": word(HeaderSize, math.MaxUint64),
		} {
			err := c.Decode(dst, change(bytes.Clone(form)))
			if m.kind == errorBound && name == "odd first block" {
				continue // a step like any other
			}
			if !errors.Is(err, ErrCorrupt) {
				t.Errorf("%v, %s: %v", m, name, err)
			}
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, m := range []Method{Lossless(), ErrorBound(0.01), TopK(0.1)} {
		c := coder(f, m, float32s)
		form, _ := thereAndBack(f, c, made(float32s, 300, func(i int) float64 { return math.Sin(float64(i) / 10) }), nil)
		f.Add(form, 300)
	}
	f.Fuzz(func(t *testing.T, form []byte, n int) {
		n &= 0xffff
		for _, e := range []Element{float32s, float64s, float16s, opaque(1), opaque(3)} {
			err := coder(t, Lossless(), e).Decode(make([]byte, n/e.Size*e.Size), form)
			if err != nil && !errors.Is(err, ErrCorrupt) {
				t.Fatal(err)
			}
		}
	})
}

func FuzzRoundTrip(f *testing.F) {
	f.Add([]byte("some bytes, and some bytes more"), 0.1, byte(4))
	f.Fuzz(func(t *testing.T, mem []byte, value float64, kind byte) {
		for _, e := range []Element{float32s, float64s, float16s, bfloat16s, opaque(int(kind%32) + 1)} {
			src := mem[:len(mem)/e.Size*e.Size]
			if _, back := thereAndBack(t, coder(t, Lossless(), e), src, nil); !bytes.Equal(back, src) {
				t.Fatal("lossless: other bits")
			}
			c, err := NewCoder(ErrorBound(value), e)
			if err != nil {
				continue
			}
			_, back := thereAndBack(t, c, src, nil)
			got := values(e, back)
			for i, want := range values(e, src) {
				if err := differ(want, got[i], value); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}
