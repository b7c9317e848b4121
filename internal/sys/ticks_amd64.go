package sys

// Ticks reads the processor's time stamp counter, which all cores of a host share where HasTicks
// says so. It is not ordered against loads and stores around it, and takes a quarter of the time
// of the system's clock.
func Ticks() int64

// HasTicks reports whether the counter runs at one rate, whatever the processor does.
func HasTicks() bool { return cpuid(maxExtended) >= powerFeatures && cpuidPower()&invariantTSC != 0 }

// Leaves of CPUID, and the bit of the second that says that the counter is invariant.
const (
	maxExtended   = 0x80000000
	powerFeatures = 0x80000007
	invariantTSC  = 1 << 8
)

// cpuid returns EAX of a leaf of CPUID, and cpuidPower EDX of powerFeatures.
func cpuid(leaf uint32) uint32
func cpuidPower() uint32

// Goroutine returns a number that the calling goroutine has, and no other one that lives.
func Goroutine() uintptr
