package cpu

// Ticks reads the processor's time stamp counter, which all cores of a host share where HasTicks
// says so. It is not ordered against loads and stores around it, and takes a quarter of the time
// of the system's clock.
func Ticks() int64

// HasTicks reports whether the counter runs at one rate, whatever the processor does.
func HasTicks() bool {
	last, _, _, _ := cpuid(maxExtended)
	_, _, _, power := cpuid(powerFeatures)
	return last >= powerFeatures && power&invariantTSC != 0
}

// Leaves of CPUID, and the bit of EDX of the second that says that the counter is invariant.
const (
	maxExtended   = 0x80000000
	powerFeatures = 0x80000007
	invariantTSC  = 1 << 8
)

// cpuid returns what CPUID says of a leaf, of the first part where it has several.
func cpuid(leaf uint32) (eax, ebx, ecx, edx uint32)

// Goroutine returns a number that the calling goroutine has, and no other one that lives.
func Goroutine() uintptr
