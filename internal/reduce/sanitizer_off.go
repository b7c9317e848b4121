//go:build !race && !msan && !asan

package reduce

const instrumented = false
