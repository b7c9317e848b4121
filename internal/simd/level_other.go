//go:build !amd64

package simd

// Best returns Scalar: there are no kernels for this architecture.
func Best() Level { return Scalar }

// Supported returns Scalar.
func Supported() Level { return Scalar }
