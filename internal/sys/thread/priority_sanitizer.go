//go:build linux && !portable && (race || msan || asan)

package thread

// priorities reports whether threads may go before all others of a core. The locks of sanitizers call sched_yield
// until they are free. A thread before all others gets its core back at once, and the owner of the lock, if it was on
// that core, runs only when the system takes the core from real-time threads, which is after most of a second.
const priorities = false
