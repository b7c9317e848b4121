//go:build race || msan || asan

package simd

// Instrumented reports whether a sanitizer watches reads and writes, which does not see those of assembly.
const Instrumented = true
