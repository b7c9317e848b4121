//go:build !amd64

package line

import "github.com/gaspi-go/gaspi-go/internal/simd"

// find returns nil: there are no codelets for this architecture.
func find[F Real](simd.Level, int, bool) codelet[F] { return nil }

// findPacking is not called: there are no levels but simd.Scalar.
func findPacking[F Real](simd.Level) (pack, unpack packing[F]) { return nil, nil }
