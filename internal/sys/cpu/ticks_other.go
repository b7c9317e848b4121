//go:build !amd64 && !arm64

package cpu

// Ticks is for architectures whose counter this package reads.
func Ticks() int64 { return 0 }

// HasTicks reports that it reads none here.
func HasTicks() bool { return false }

// Goroutine returns 0: goroutines are not told apart here.
func Goroutine() uintptr { return 0 }
