package main

import (
	"github.com/gaspi-go/gaspi-go/examples/fft/distfft"
)

// valueAt is what a band has at a point, by its number in row-major order: anything
// from -1/2 to 1/2 that is the same on all ranks, however the grid is cut.
func valueAt(seed uint64, band, point int) complex128 {
	re := mix(seed + uint64(band)<<48 + 2*uint64(point))
	im := mix(seed + uint64(band)<<48 + 2*uint64(point) + 1)
	return complex(unit(re)-0.5, unit(im)-0.5)
}

// mix is the output function of the generator splitmix64 at state x.
func mix(x uint64) uint64 {
	x *= 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// unit is a number from 0 to 1 with 24 random bits, which float32 holds exactly.
func unit(x uint64) float64 { return float64(x>>40) / (1 << 24) }

// each calls f for all points of a box with their numbers in the grid, in the order
// in which a rank holds them.
func each(grid distfft.Grid, box distfft.Box, f func(i, point int)) {
	i := 0
	for x := box.X.Lo; x < box.X.Lo+box.X.N; x++ {
		for y := box.Y.Lo; y < box.Y.Lo+box.Y.N; y++ {
			row := (x*grid.NY + y) * grid.NZ
			for z := box.Z.Lo; z < box.Z.Lo+box.Z.N; z++ {
				f(i, row+z)
				i++
			}
		}
	}
}

// fill makes this rank's box of a band.
func fill[T distfft.Number](mem []T, grid distfft.Grid, box distfft.Box, seed uint64, band int) {
	each(grid, box, func(i, point int) { mem[i] = number[T](valueAt(seed, band, point)) })
}

// number is v as a T, its real part if that is real.
func number[T distfft.Number](v complex128) T {
	var x T
	switch p := any(&x).(type) {
	case *float32:
		*p = float32(real(v))
	case *float64:
		*p = real(v)
	case *complex64:
		*p = complex64(v)
	case *complex128:
		*p = v
	}
	return x
}

// wide is v as a complex128.
func wide[T distfft.Number](v T) complex128 {
	switch x := any(v).(type) {
	case float32:
		return complex(float64(x), 0)
	case float64:
		return complex(x, 0)
	case complex64:
		return complex128(x)
	case complex128:
		return x
	}
	return 0
}

// square is the square of the absolute value.
func square(v complex128) float64 { return real(v)*real(v) + imag(v)*imag(v) }
