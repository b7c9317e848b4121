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
	if l := supported(); l < levelAVX512 || cpu.X86.HasAVX512VBMI2 {
		return l
	}
	// The kernels need no VBMI2. It marks the generations after those that
	// lower their clock for the wide registers.
	return levelAVX2
}

// supported returns the highest level whose instructions the processor and the
// system have. F16C came with the generation before AVX2, but an emulator may
// lack it.
func supported() level {
	x := &cpu.X86
	switch {
	case !x.HasAVX2 || !x.HasF16C:
		return levelScalar
	case x.HasAVX512F && x.HasAVX512BW && x.HasAVX512DQ:
		return levelAVX512
	}
	return levelAVX2
}

// vector runs the kernel of level l for p and reports whether there is one; if
// not, nothing was done. There are at least smallest bytes.
func vector(l level, p pair, dst, a, b []byte) bool {
	n := uint64(len(dst))
	switch {
	case l == levelAVX512 && n >= 64:
		return runAVX512(p, &dst[0], &a[0], &b[0], n)
	case l >= levelAVX2:
		return runAVX2(p, &dst[0], &a[0], &b[0], n)
	}
	return false
}

// find returns the kernel of exactly level l for p, or nil.
func find(l level, p pair) vectorFunc {
	switch l {
	case levelAVX512:
		return findAVX512(p)
	case levelAVX2:
		return findAVX2(p)
	}
	return nil
}

// findFold is find for four sources.
func findFold(l level, p pair) foldFunc {
	switch l {
	case levelAVX512:
		return findFoldAVX512(p)
	case levelAVX2:
		return findFoldAVX2(p)
	}
	return nil
}

// findTwice is find for two destinations.
func findTwice(l level, p pair) twiceFunc {
	switch l {
	case levelAVX512:
		return findTwiceAVX512(p)
	case levelAVX2:
		return findTwiceAVX2(p)
	}
	return nil
}
