// Package distfft transforms three-dimensional grids that are spread over the
// ranks of a job: the fast Fourier transform with its data exchange, written with
// package collectives alone.
//
//	plan, err := distfft.New[complex128, complex128](ctx, p.World(), distfft.Config{
//		Grid: distfft.Grid{NX: 128, NY: 128, NZ: 128}, P: p.Size(), Q: 1,
//	})
//	in, out := plan.Input(), plan.Output()             // which part of the grid this rank holds before and after
//	err = plan.Forward(ctx, dst, src)                  // len(src) is in.Count(), len(dst) is out.Count()
//	err = plan.ForwardBands(ctx, dsts, srcs)           // many grids: exchanges overlap with arithmetic
//
// # Layout
//
// Every rank holds a box of the grid in row-major order: z runs fastest, then y,
// then x. Ranks form a grid of their own, P by Q: rank r is at (r/Q, r%Q), counted
// as members of the group. Before Forward a rank has all of z, its share of x among P and its
// share of y among Q. After it, it has all of x, its share of y among P and its
// share of z among Q. With Q = 1 these are slabs, and there is one exchange;
// otherwise they are pencils, and there are two. Shares differ by one where sizes
// are not divisible: the first ones are larger. The order of indices is x, y, z
// throughout: nothing is left transposed.
//
// # What is computed
//
// Forward is the sum over the grid of the value at (a,b,c) times
// exp(-2 pi sqrt(-1) (a*kx/NX + b*ky/NY + c*kz/NZ)), without a factor. Inverse has
// the opposite sign and is divided by NX*NY*NZ, so that it undoes Forward.
//
// The type of the input says what kind it is. Complex input has as many outputs.
// Real input has outputs for kz from 0 to NZ/2 only, since the others follow
// from X(kx,ky,kz) = conj X(-kx,-ky,-kz); Inverse takes those and ignores
// that part of them which no real grid has. With float32 and complex64, all
// arithmetic is in float32, with factors that are rounded once.
//
// # How it is fast
//
// A step loads a few neighbouring lines into a tile that stays in cache,
// transforms them (package line), and stores them where their blocks for the
// exchange lie; the next step loads them from where the blocks have arrived. So
// there is no pass through memory to pack or unpack, and a rank's own block is not
// exchanged at all. Of many grids, called bands, one is transformed while others
// are exchanged.
package distfft
