// The generator is a module of its own so that avo is no dependency of the
// runtime: nothing here is built unless the kernels are regenerated.
module github.com/gaspi-go/gaspi-go/examples/fft/distfft/internal/line/asm

go 1.26.0

require github.com/mmcloughlin/avo v0.5.0

require (
	golang.org/x/mod v0.41.0 // indirect
	golang.org/x/sync v0.23.0 // indirect
	golang.org/x/tools v0.51.0 // indirect
)
