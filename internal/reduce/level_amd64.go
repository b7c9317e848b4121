package reduce

//go:generate go run -C asm .

import "golang.org/x/sys/cpu"

// best is what this processor can run. It is set once, before main, and never
// written again.
var best = detect()

func detect() level {
	if instrumented {
		// Assembly is invisible to the sanitizers; only the Go loops report
		// their reads and writes.
		return levelScalar
	}
	return supported()
}

// supported returns the highest level whose instructions the processor and the
// system have.
func supported() level {
	x := &cpu.X86
	switch {
	case x.HasAVX512F && x.HasAVX512BW && x.HasAVX512DQ && x.HasAVX512VBMI2:
		// The kernels need no VBMI2. It marks the generations after those
		// that lower their clock for the wide registers. They passed the kernel
		// tests on an emulated processor (Bochs) and have not been timed.
		return levelAVX512
	case x.HasAVX2:
		return levelAVX2
	}
	return levelScalar
}

// vector runs the kernel of level l for p on n bytes and reports whether there
// is one; if not, nothing was done. n is at least l.smallest().
func vector(l level, p pair, dst, a, b *byte, n uint64) bool {
	switch l {
	case levelAVX512:
		return runAVX512(p, dst, a, b, n)
	case levelAVX2:
		return runAVX2(p, dst, a, b, n)
	}
	return false
}
