//go:build !amd64

package reduce

import "github.com/gaspi-go/gaspi-go/internal/simd"

func vector(simd.Level, pair, []byte, []byte, []byte) bool { return false }

func find(simd.Level, pair) vectorFunc { return nil }

func findFold(simd.Level, pair) foldFunc { return nil }

func findTwice(simd.Level, pair) twiceFunc { return nil }
