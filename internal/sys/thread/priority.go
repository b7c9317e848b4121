//go:build linux && !portable && !race && !msan && !asan

package thread

// priorities reports whether threads may go before all others of a core.
const priorities = true
