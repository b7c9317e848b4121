package cpu

// Ticks reads the processor's virtual counter, which all cores of a host share. It is not ordered
// against loads and stores around it.
func Ticks() int64

// HasTicks reports whether the counter runs at one rate, which the architecture promises.
func HasTicks() bool { return true }

// Goroutine returns a number that the calling goroutine has, and no other one that lives.
func Goroutine() uintptr
