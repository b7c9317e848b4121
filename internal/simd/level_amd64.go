package simd

import "golang.org/x/sys/cpu"

// Best returns the level that runs fastest here, Scalar under a sanitizer: only what Go compiles reports
// its reads and writes.
func Best() Level {
	if Instrumented {
		return Scalar
	}
	if l := Supported(); l < AVX512 || cpu.X86.HasAVX512VBMI2 {
		return l
	}
	// Kernels need no VBMI2. It marks the generations after those that lower their clock
	// for the wide registers.
	return AVX2
}

// Supported returns the highest level whose instructions the processor and the system have. F16C and FMA
// came with AVX2 or before, but an emulator may lack them.
func Supported() Level {
	x := &cpu.X86
	switch {
	case !x.HasAVX2 || !x.HasF16C || !x.HasFMA:
		return Scalar
	case x.HasAVX512F && x.HasAVX512BW && x.HasAVX512DQ:
		return AVX512
	}
	return AVX2
}
