// Package serial transforms a grid on one rank, in float64, by the Fourier package of
// gonum: slow, simple and by other hands, to check the distributed transform with.
package serial

import "gonum.org/v1/gonum/dsp/fourier"

// Forward replaces a grid of size[0] by size[1] by size[2] numbers, the last index
// running fastest, by its transform: the sum over all of them times
// exp(-2 pi sqrt(-1) k*i/n) along each axis, without a factor.
func Forward(size [3]int, grid []complex128) {
	stride := 1
	for axis := 2; axis >= 0; axis-- {
		along(grid, size[axis], stride)
		stride *= size[axis]
	}
}

// along transforms all lines of n numbers that are stride apart.
func along(grid []complex128, n, stride int) {
	plan := fourier.NewCmplxFFT(n)
	in, out := make([]complex128, n), make([]complex128, n)
	for block := 0; block < len(grid); block += n * stride {
		for first := range stride {
			for i := range n {
				in[i] = grid[block+first+i*stride]
			}
			plan.Coefficients(out, in)
			for i := range n {
				grid[block+first+i*stride] = out[i]
			}
		}
	}
}
