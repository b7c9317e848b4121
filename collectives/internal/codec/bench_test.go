package codec

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
)

// benchLength is the elements of the vectors of benchmarks: they leave the caches.
const benchLength = 1 << 20

// samples are vectors as programs have them: a sampled wave, the same with noise of a
// thousandth, noise alone, noise in one of twenty elements, and small integers.
func samples(e Element) []struct {
	name string
	mem  []byte
} {
	rng := rand.New(rand.NewPCG(1, 2))
	wave := func(i int) float64 { return math.Sin(float64(i) / 1000) }
	return []struct {
		name string
		mem  []byte
	}{
		{"smooth", made(e, benchLength, wave)},
		{"noisy", made(e, benchLength, func(i int) float64 { return wave(i) + 1e-3*rng.NormFloat64() })},
		{"normal", made(e, benchLength, func(int) float64 { return rng.NormFloat64() })},
		{"sparse", made(e, benchLength, func(int) float64 {
			if rng.IntN(20) > 0 {
				return 0
			}
			return rng.NormFloat64()
		})},
		{"integers", made(e, benchLength, func(int) float64 { return float64(rng.IntN(1000)) })},
	}
}

// BenchmarkCoder measures methods: bytes, not coded, that are encoded or decoded in a
// second, and the bytes of forms by those.
func BenchmarkCoder(b *testing.B) {
	for _, x := range []struct {
		name string
		e    Element
		m    Method
		lost bool
	}{
		{"lossless/float32", float32s, Lossless(), false},
		{"lossless/float64", float64s, Lossless(), false},
		{"bound0.001/float32", float32s, ErrorBound(1e-3), false},
		{"bound0.001/float64", float64s, ErrorBound(1e-3), false},
		{"bound0.001/remembered/float32", float32s, ErrorBound(1e-3), true},
		{"top0.01/float32", float32s, TopK(0.01), false},
		{"top0.01/remembered/float32", float32s, TopK(0.01), true},
	} {
		for _, s := range samples(x.e) {
			c := coder(b, x.m, x.e)
			form, back := make([]byte, len(s.mem)+HeaderSize), make([]byte, len(s.mem))
			var lost []float64
			if x.lost {
				lost = make([]float64, benchLength)
			}
			n := c.Encode(form, s.mem, lost)
			b.Run(x.name+"/"+s.name+"/encode", func(b *testing.B) {
				b.SetBytes(int64(len(s.mem)))
				b.ReportAllocs()
				for b.Loop() {
					n = c.Encode(form, s.mem, lost)
				}
				b.ReportMetric(float64(n)/float64(len(s.mem)), "ratio")
			})
			b.Run(x.name+"/"+s.name+"/decode", func(b *testing.B) {
				b.SetBytes(int64(len(s.mem)))
				b.ReportAllocs()
				for b.Loop() {
					if err := c.Decode(back, form); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkPackers measures what the lossless method could be made of, for float32:
// compressors, on blocks of packBlock bytes, as they are or shuffled.
func BenchmarkPackers(b *testing.B) {
	fastest, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
	if err != nil {
		b.Fatal(err)
	}
	expand, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		b.Fatal(err)
	}
	for _, x := range []struct {
		name string
		pack func(dst, src []byte) []byte
		back func(dst, src []byte) ([]byte, error)
	}{
		{"s2", s2.Encode, s2.Decode},
		{"s2-better", s2.EncodeBetter, s2.Decode},
		{"zstd", func(dst, src []byte) []byte { return fastest.EncodeAll(src, dst[:0]) },
			func(dst, src []byte) ([]byte, error) { return expand.DecodeAll(src, dst[:0]) }},
	} {
		for _, shuffled := range []bool{false, true} {
			for _, s := range samples(float32s) {
				name := x.name + "/as-it-is/" + s.name
				if shuffled {
					name = x.name + "/shuffled/" + s.name
				}
				plane, room := make([]byte, packBlock), make([]byte, 2*packBlock)
				forms := make([][]byte, 0, len(s.mem)/packBlock)
				b.Run(name+"/encode", func(b *testing.B) {
					b.SetBytes(int64(len(s.mem)))
					n := 0
					for b.Loop() {
						n = 0
						for at := 0; at < len(s.mem); at += packBlock {
							block := s.mem[at : at+packBlock]
							if shuffled {
								shuffle(plane, block, 4)
								block = plane
							}
							n += len(x.pack(room, block))
						}
					}
					b.ReportMetric(float64(n)/float64(len(s.mem)), "ratio")
				})
				for at := 0; at < len(s.mem); at += packBlock {
					block := s.mem[at : at+packBlock]
					if shuffled {
						shuffle(plane, block, 4)
						block = plane
					}
					forms = append(forms, append([]byte(nil), x.pack(room, block)...))
				}
				back := make([]byte, packBlock)
				b.Run(name+"/decode", func(b *testing.B) {
					b.SetBytes(int64(len(s.mem)))
					for b.Loop() {
						for _, form := range forms {
							mem, err := x.back(plane, form)
							if err != nil {
								b.Fatal(err)
							}
							if shuffled {
								unshuffle(back, mem, 4)
							}
						}
					}
				})
			}
		}
	}
}

// BenchmarkMultiples measures what the differences of multiples could be kept by:
// their bits counted, or compressed after a shuffle.
func BenchmarkMultiples(b *testing.B) {
	fastest, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
	if err != nil {
		b.Fatal(err)
	}
	plane, room := make([]byte, packBlock), make([]byte, 2*packBlock)
	for _, s := range samples(float32s) {
		x := values(float32s, s.mem)
		all, mem := make([]uint32, len(x)), make([]byte, len(s.mem))
		last := int32(0)
		for i, v := range x {
			m := int32(math.RoundToEven(v / 0.002))
			all[i] = fold(m - last)
			binary.LittleEndian.PutUint32(mem[4*i:], all[i])
			last = m
		}
		for name, keep := range map[string]func(at int) int{
			"bits": func(at int) int {
				n := 0
				for i := at / 4; i < (at+packBlock)/4; i += quantum {
					longest := uint32(0)
					for _, m := range all[i : i+quantum] {
						longest |= m
					}
					need := packedBits(quantum, byte(width(longest)))
					putBits(room[:need], all[i:i+quantum], width(longest))
					n += 1 + need
				}
				return n
			},
			"s2": func(at int) int {
				shuffle(plane, mem[at:at+packBlock], 4)
				return len(s2.Encode(room, plane))
			},
			"zstd": func(at int) int {
				shuffle(plane, mem[at:at+packBlock], 4)
				return len(fastest.EncodeAll(plane, room[:0]))
			},
		} {
			b.Run(name+"/"+s.name, func(b *testing.B) {
				b.SetBytes(int64(len(mem)))
				n := 0
				for b.Loop() {
					n = 0
					for at := 0; at < len(mem); at += packBlock {
						n += keep(at)
					}
				}
				b.ReportMetric(float64(n)/float64(len(mem)), "ratio")
			})
		}
	}
}
